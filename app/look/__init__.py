"""The look: palette, stylesheet, icons."""
