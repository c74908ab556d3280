"""Strategies that learn L2 penalties on a loss: mm, evidence, leave-one-out, direct and implicit gradient."""
