"""What the order flow's handlers share: the order that travels, the shop they call, and what undoes what."""
