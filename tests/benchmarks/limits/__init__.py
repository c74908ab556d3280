"""The work whose speed is held against the machine's limit, one module a part."""
