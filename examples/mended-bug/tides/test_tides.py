import unittest

from tides import highest, mean


class Tides(unittest.TestCase):
    def test_mean_of_an_odd_number(self):
        self.assertEqual(mean([210, 212, 214]), 212)

    def test_mean_of_an_even_number(self):
        self.assertEqual(mean([210, 213]), 211.5)

    def test_highest(self):
        self.assertEqual(highest([210, 213]), 213)
