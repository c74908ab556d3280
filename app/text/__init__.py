"""Every sentence that the window says."""
