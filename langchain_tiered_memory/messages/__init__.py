"""Ground floor: pure functions over lists of LangChain messages, without I/O."""
