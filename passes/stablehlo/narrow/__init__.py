"""What widen-narrow-types is made of: how narrow types are stored, converted and computed with."""
