// Ops that are programs have one definition. What stands beside a program needs a reason, which is written here.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/ops/core/decomposition_tables.h"
#include "engine/ops/core/op_registration.h"

namespace kerf {
namespace {

struct SecondDefinition {
  std::string_view op;
  std::string_view what;  ///< stands beside the program
  std::string_view why;
};

constexpr std::string_view withoutVectors = "without a gradient PyTorch computes no vectors; the program computes them";
constexpr std::string_view ofDevices = "results that only a device fills have shapes that the program does not tell";
constexpr std::string_view ofTable =
    "the tables write the steps of the norm where the program calls the op that has a kernel";

constexpr SecondDefinition secondDefinitions[] = {
    {"aten.linalg_eigvals.default", "kernel", withoutVectors},
    {"aten.linalg_eigvals.default", "shape", withoutVectors},
    {"aten.linalg_eigvalsh.default", "kernel", withoutVectors},
    {"aten.linalg_eigvalsh.default", "shape", withoutVectors},
    {"aten.linalg_svdvals.default", "kernel", withoutVectors},
    {"aten.linalg_svdvals.default", "shape", withoutVectors},
    {"aten.svd.default", "kernel", withoutVectors},
    {"aten.svd.default", "shape", withoutVectors},
    {"aten._scaled_dot_product_cudnn_attention.default", "shape", ofDevices},
    {"aten._scaled_dot_product_flash_attention.default", "shape", ofDevices},
    {"aten._scaled_dot_product_fused_attention_overrideable.default", "shape", ofDevices},
    {"aten.masked_scatter_backward.default", "shape", "the program's steps have shapes that depend on values"},
    {"aten._batch_norm_with_update_functional.default", "table program", ofTable},
    {"aten._native_batch_norm_legit_functional.default", "table program", ofTable},
    {"aten.dropout.default", "table program", "the tables keep a copy where nothing is dropped"},
};

bool names(std::string_view name, const OpInfo& op) {
  return name == op.schema.name || name == op.schema.name + "." + op.schema.overload;
}

/// A line for this overload alone: one for all overloads is there for those with kernels.
bool hasDecompositionLine(const OpInfo& op) {
  for (const OpFactRows table : opFactTables())
    for (const OpFacts& facts : table)
      if (facts.decomposition != nullptr && op.schema.name + "." + op.schema.overload == facts.op) return true;
  return op.row->facts.decomposition != nullptr;
}

bool hasTableProgram(const OpInfo& op) {
  for (const TablePrograms programs : tableProgramTables())
    for (const TableProgram& program : programs)
      if (names(program.op, op)) return true;
  return false;
}

std::set<std::pair<std::string, std::string>> besidePrograms() {
  std::set<std::pair<std::string, std::string>> found;
  for (const OpInfo& op : allOps()) {
    if (op.composite == nullptr) continue;
    const std::string name = op.schema.qualifiedName();
    if (op.row->kernel != nullptr) found.emplace(name, "kernel");
    if (op.row->shape != nullptr) found.emplace(name, "shape");
    if (hasDecompositionLine(op)) found.emplace(name, "decomposition");
    if (hasTableProgram(op)) found.emplace(name, "table program");
  }
  return found;
}

TEST(OpDefinitions, ProgramsHaveOne) {
  auto found = besidePrograms();
  for (const SecondDefinition& second : secondDefinitions) {
    EXPECT_FALSE(second.why.empty()) << second.op;
    EXPECT_EQ(found.erase({std::string(second.op), std::string(second.what)}), 1u)
        << second.op << " has no " << second.what << " beside its program any more";
  }
  for (const auto& [op, what] : found)
    ADD_FAILURE() << op << " is a program and has a " << what << " as well: one of the two is enough";
}

/// Overloads that have a kernel of their own, and a decomposition beside it.
std::vector<const OpInfo*> besideKernels() {
  std::vector<const OpInfo*> found;
  for (const OpInfo& op : allOps())
    if (op.composite == nullptr && op.kernel != nullptr && op.decomposition != nullptr) found.push_back(&op);
  return found;
}

constexpr std::string_view ofLoops = "has no lowering: its loop is written from the decomposition";
constexpr std::string_view ofPlacement = "has no sharding rule: it is placed on a mesh by its decomposition";

/// Those that no table of PyTorch writes.
constexpr SecondDefinition besideTables[] = {
    {"aten.hardshrink_backward.default", "decomposition", ofLoops},
    {"aten.mish_backward.default", "decomposition", ofLoops},
    {"aten.softshrink_backward.default", "decomposition", ofLoops},
    {"aten.lift.default", "decomposition", ofPlacement},
    {"aten.lift_fresh.default", "decomposition", ofPlacement},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default", "decomposition", ofPlacement},
};

bool isOfATable(const OpInfo& op) {
  constexpr DecompositionTable tables[] = {DecompositionTable::None, DecompositionTable::Core,
                                           DecompositionTable::Inductor};
  return std::ranges::any_of(tables, [&](DecompositionTable table) {
    const Replacement by = decomposesBy(table)(op);
    return by.replaces && (by.program == nullptr || by.program == op.decomposition || by.applies != nullptr);
  });
}

/// What a trace writes is a second definition of an op with a kernel: PyTorch's tables ask for it, or it has a reason.
TEST(OpDefinitions, DecompositionsBesideKernelsAreThoseOfATable) {
  std::set<std::string> found;
  for (const OpInfo* op : besideKernels())
    if (!isOfATable(*op)) found.insert(op->schema.qualifiedName());
  for (const SecondDefinition& second : besideTables)
    EXPECT_EQ(found.erase(std::string(second.op)), 1u) << second.op << " is written by a table, or no more";
  for (const std::string& op : found) ADD_FAILURE() << op << " has a decomposition that no table writes";
}

/// May fall, and rise only with a reason: whoever adds an op with two definitions says here why it needs them.
TEST(OpDefinitions, AreNotMoreThanBefore) {
  const auto twice = besideKernels();
  const auto thrice = std::ranges::count_if(twice, [](const OpInfo* op) { return bool(op->lowering); });
  EXPECT_EQ(twice.size(), 228u) << "kernel and decomposition";
  EXPECT_EQ(thrice, 85) << "kernel, decomposition and lowering";
}

/// The interpreter judges generated code: what is lowered has a kernel that is written on its own.
TEST(OpDefinitions, WhatIsLoweredHasAKernelOfItsOwn) {
  for (const OpInfo& op : allOps()) {
    if (!op.lowering || op.composite != nullptr) continue;
    EXPECT_NE(op.row->kernel, nullptr) << op.schema.qualifiedName();
  }
}

}  // namespace
}  // namespace kerf
