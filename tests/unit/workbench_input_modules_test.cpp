// Modules of inputs, read from the names that Dynamo gives to parameters.
#include <gtest/gtest.h>

#include "app/workbench/graphs/graph_doc.h"

namespace kerf::workbench {
namespace {

TEST(InputModules, AreReadFromDynamosNames) {
  EXPECT_EQ(moduleOfInput("L_self_modules_layers_modules_0_modules_fc_parameters_weight_"), "layers.0.fc");
  EXPECT_EQ(moduleOfInput("L_self_modules_bn_buffers_running_mean_"), "bn");
  EXPECT_EQ(moduleOfInput("primals_3"), "");
  EXPECT_EQ(moduleOfInput(""), "");
}

}  // namespace
}  // namespace kerf::workbench
