"""torch._inductor.test_case: the same test case as Dynamo's."""

from torch._dynamo.test_case import TestCase, run_tests  # noqa: F401
