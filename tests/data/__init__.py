"""Small inputs for tests, and the generators that make them."""
