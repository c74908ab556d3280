"""The script that trains the tuned model again."""
