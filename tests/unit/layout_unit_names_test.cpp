// Names of stretches that no module names: what they do, counted by what a unit begins with.
#include <gmock/gmock.h>

#include "tests/support/made_documents.h"
#include "ui/layout/repeats.h"

namespace kerf::ui {
namespace {

using testing::MadeCall;

std::string nameOf(const std::vector<std::string>& ops) {
  std::vector<MadeCall> calls{{"x", "", {}, "", 0}};
  std::vector<int> places;
  for (const auto& op : ops) {
    places.push_back(int(calls.size()));
    calls.push_back({"n" + std::to_string(calls.size()), op, {int(calls.size()) - 1}, "", 0});
  }
  return spanName(testing::makeDocument(calls), places, 0, int(places.size()));
}

TEST(UnitNames, SayWhatAStretchDoes) {
  EXPECT_EQ(nameOf({"convolution", "add", "sqrt", "mul", "relu", "convolution", "rsqrt", "relu"}),
            "2 × conv + norm + activation");
  EXPECT_EQ(nameOf({"view", "permute", "_scaled_dot_product_flash_attention", "addmm"}), "attention + matmul");
  EXPECT_EQ(nameOf({"embedding", "add", "native_layer_norm"}), "embedding + norm");
  EXPECT_EQ(nameOf({"mm", "mm.out", "addmm", "erf"}), "3 × matmul + activation");
}

TEST(UnitNames, DoNotGuess) {
  EXPECT_EQ(nameOf({"prims.convert_element_type", "view", "mul"}), "prims.convert_element_type … mul")
      << "no convolution";
  EXPECT_EQ(nameOf({"add", "normal_"}), "add … normal_") << "no norm";
  EXPECT_EQ(nameOf({"comm", "dimm"}), "comm … dimm") << "no matmul";
}

TEST(UnitNames, AStretchBeginsWithAUnit) {
  std::vector<MadeCall> calls{{"x", "", {}, "", 0}};
  std::vector<int> places;
  for (int i = 0; i < 211; ++i) {
    places.push_back(int(calls.size()));
    // Units of other lengths: nothing repeats.
    const bool begins = i == 0 || i == 13 || i == 31 || i == 58 || i == 83 || i == 121 || i == 150 || i == 199;
    calls.push_back({"n" + std::to_string(i),
                     begins       ? "convolution"
                     : i % 3 == 0 ? "mul"
                                  : "op" + std::to_string(i),
                     {i},
                     "",
                     0});
  }
  const auto graph = testing::makeDocument(calls);
  const auto stretches = cutIntoStretches(graph, places);
  int begins = 0, end = 0;
  for (const auto& stretch : stretches) {
    EXPECT_EQ(stretch.begin, end) << "nothing is left out";
    end = stretch.end;
    begins += beginsUnit(graph.nodes[std::size_t(places[std::size_t(stretch.begin)])]);
  }
  EXPECT_EQ(end, 211);
  EXPECT_GE(begins, 4);
}

}  // namespace
}  // namespace kerf::ui
