"""Learners of L2 penalties on a loss: mm, evidence, leave-one-out, direct, implicit gradient."""
