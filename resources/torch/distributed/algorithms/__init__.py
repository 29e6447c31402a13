"""Ways to reduce gradients."""
