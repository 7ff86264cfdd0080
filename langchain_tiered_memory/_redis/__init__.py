"""A Redis server: its address, its clients, commands and scripts, and whether it may forget what it acknowledged."""
