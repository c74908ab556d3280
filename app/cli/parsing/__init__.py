"""Arguments: the parser, its help, and what single arguments say."""
