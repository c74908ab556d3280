"""Views of penalty learning."""
