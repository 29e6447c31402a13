#include "engine/partition/partition.h"

#include <algorithm>

#include "engine/partition/joint_sides.h"

namespace kerf::inline partition {

namespace {

constexpr std::string_view methodNames[] = {"min_cut", "default"};

}  // namespace

std::string_view methodName(PartitionMethod method) { return methodNames[std::size_t(method)]; }

Result<PartitionMethod> methodFromName(std::string_view name) {
  const auto found = std::ranges::find(methodNames, name);
  if (found != std::end(methodNames)) return PartitionMethod(found - std::begin(methodNames));
  return fail(ErrorCode::BadUsage, "there is no way \"{}\" to partition; choose min_cut or default", name);
}

Partitioner::Partitioner(std::unique_ptr<JointGraph> joint, const PartitionOptions& options)
    : m_joint(std::move(joint)), m_method(options.method), m_chooser(*m_joint, options.budget) {}

Result<Partitioner> Partitioner::read(GraphModule module, const PartitionOptions& options) {
  JointOptions reading = options.joint;
  reading.cleans = options.method == PartitionMethod::MinCut;
  KERF_TRY(JointGraph joint, readJointGraph(std::move(module), reading));
  KERF_CHECK(checkSides(joint));
  PartitionOptions chosen = options;
  if (joint.hasRecompute) chosen.method = PartitionMethod::MinCut;
  return Partitioner(std::make_unique<JointGraph>(std::move(joint)), chosen);
}

Result<Partition> Partitioner::at(double budget) {
  if (m_method == PartitionMethod::Default || !m_joint->hasBackward) {
    KERF_TRY(const CutSolution forward, chooseForwardValues(*m_joint));
    return buildPartition(*m_joint, forward);
  }
  KERF_TRY(const CutSolution solution, m_chooser.choose(budget));
  return buildPartition(*m_joint, solution);
}

std::vector<std::string> Partitioner::staticInputs() const {
  std::vector<std::string> names;
  for (const int place : m_joint->inputs)
    if (m_joint->nodes[std::size_t(place)].isStatic) names.push_back(m_joint->name(place));
  return names;
}

Result<Partition> partitionJoint(GraphModule module, const PartitionOptions& options, double budget) {
  KERF_TRY(Partitioner partitioner, Partitioner::read(std::move(module), options));
  return partitioner.at(budget);
}

}  // namespace kerf::inline partition
