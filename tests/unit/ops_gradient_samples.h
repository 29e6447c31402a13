// Sample calls of ops whose gradients and jvps are checked against central differences.
#pragma once

#include <random>
#include <set>

#include "engine/conformance/difference_check.h"
#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"
#include "ops_testing.h"

namespace kerf::testing {

/// Random numbers between `low` and `high`.
inline Tensor randomTensor(const Sizes& sizes, unsigned seed, double low = 0.3, double high = 1.7) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> values(std::size_t(*checkedNumel(sizes)));
  for (double& value : values) value = draw(random);
  return tensorOf(sizes, values, DType::Float64);
}
inline Tensor signedTensor(const Sizes& sizes, unsigned seed) { return randomTensor(sizes, seed, -2, 2); }
inline Tensor positions(const Sizes& sizes, const std::vector<double>& values) {
  return tensorOf(sizes, values, DType::Int64);
}
/// Every third element.
inline Tensor mask(const Sizes& sizes) {
  std::vector<double> values(std::size_t(*checkedNumel(sizes)));
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = 1;
  return tensorOf(sizes, values, DType::Bool);
}
inline Value whole(std::int64_t number) { return number; }

struct Sample {
  std::string op;
  ValueList args;
  KeywordValues kwargs = {};
};

/// Gradient and jvp of every sample agree with differences, over real and complex numbers where `complex` says so, and
/// have the form of their arguments.
inline void expectGradients(const std::vector<Sample>& samples, bool complex = false) {
  for (const Sample& sample : samples) {
    SCOPED_TRACE(sample.op);
    const OpInfo* op = findOp(sample.op);
    ASSERT_NE(op, nullptr);
    const auto call = bindArguments(*op, sample.args, sample.kwargs);
    ASSERT_TRUE(call) << call.error().text();
    const auto field = complex ? NumberField::Complex : NumberField::Real;
    const DifferenceCheck check = checkByDifferences(*call, field);
    EXPECT_EQ(int(check.outcome), int(DifferenceCheck::Outcome::Agrees)) << check.text;
    EXPECT_LE(check.dualError, differenceTolerance);
    const DifferenceCheck forms = checkForms(*call);
    EXPECT_EQ(int(forms.outcome), int(DifferenceCheck::Outcome::Agrees)) << forms.text;
  }
}

/// Whether an op has a gradient of its own through which something flows.
inline bool isDifferentiated(const OpInfo& op) {
  return op.gradient != nullptr && op.gradient != nothingFlows && op.gradient != noDerivative;
}

/// The samples have one call at least of every op of a folder that has a gradient.
inline void expectAllTested(std::string_view folder, const std::vector<Sample>& samples) {
  std::set<std::string> tested;
  for (const Sample& sample : samples) tested.insert(findOp(sample.op)->schema.name);
  for (const OpInfo& op : allOps())
    if (isDifferentiated(op) && folderOf(op) == folder && op.schema.name.back() != '_') {
      EXPECT_TRUE(tested.contains(op.schema.name)) << op.schema.qualifiedName();
    }
}

}  // namespace kerf::testing
