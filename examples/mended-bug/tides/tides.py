def mean(levels):
    """The mean of some levels, in centimetres."""
    return sum(levels) // len(levels)


def highest(levels):
    """The highest of some levels, in centimetres."""
    return max(levels)
