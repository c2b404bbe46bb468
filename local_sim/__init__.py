"""The local cloud: everything that runs a Stepkeeper project offline."""
