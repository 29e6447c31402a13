"""torch._dynamo.test_case: tests that start with nothing compiled."""

import torch
from torch.testing._internal import common_utils


class TestCase(common_utils.TestCase):
    """A test case that forgets what others compiled."""

    def setUp(self):
        super().setUp()
        torch._dynamo.reset()

    def tearDown(self):
        torch._dynamo.reset()
        super().tearDown()


def run_tests(needs=()):
    """Run the tests of __main__."""
    common_utils.run_tests()
