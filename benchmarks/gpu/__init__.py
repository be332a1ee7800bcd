"""What a card does: passes beside the limits of the card, and fits beside two cores of the same machine."""
