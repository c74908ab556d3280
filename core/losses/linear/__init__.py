"""The losses of linear models: squared error, logistic, multinomial."""
