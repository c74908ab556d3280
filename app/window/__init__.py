"""The window: rail, pages' place, side panel, notices, and closing."""
