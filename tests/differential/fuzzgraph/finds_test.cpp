// Each find of the tables in finds_*_test.cpp, checked in every way.
#include "tests/differential/fuzzgraph/finds_testing.h"

namespace kerf::fuzzgraph {

TEST_P(FuzzGraphFinds, Agrees) { expectAgreement(GetParam().graph); }

}  // namespace kerf::fuzzgraph
