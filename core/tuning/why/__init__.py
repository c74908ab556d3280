"""What people ask after the score: answers about the model that was tested, on its test rows."""
