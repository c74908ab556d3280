"""Tables and figures of the papers, measured again: theirs beside ours."""
