"""Episodic memory: what happened, kept in Milvus and found again by meaning and by words."""
