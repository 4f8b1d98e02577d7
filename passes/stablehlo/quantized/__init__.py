"""What legalize-quantized is made of: quantized types, their arithmetic, contractions in integers, and the rules of ops."""
