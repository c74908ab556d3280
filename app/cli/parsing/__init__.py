"""The parser, its help, and the syntax of single arguments."""
