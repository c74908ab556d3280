"""−log p(data | w) of the models that penalty learners tune, with exact derivatives."""
