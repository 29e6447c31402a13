// PlacedParts: the parts that a program's DTensors have on this rank. A handle in Python has a storage of its own without
// memory behind it, which leads to the part for as long as anybody holds it.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "engine/distributed/sharding/spec.h"
#include "engine/torch_api/placed_tensors.h"
#include "engine/torch_distributed/mesh_link.h"

namespace kerf::inline torch_distributed {

struct PlacedPart {
  Tensor local;
  Spec spec;
  std::shared_ptr<MeshOfProgram> mesh;
};

class PlacedParts : public PlacedTensors {
 public:
  /// Those of this process. Made with the first one, and never dropped.
  static PlacedParts& own();

  bool holds(const Tensor& tensor) const override { return find(tensor) != nullptr; }
  /// By DTensorOps. BadInput for tensors of two meshes.
  Result<Value> call(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) override;
  PyTypeObject* type() const override { return m_type; }
  void setType(PyTypeObject* type) { m_type = type; }
  /// Whether tensors of this rank alone count as replicated where they meet placed ones; what was before.
  bool replicateOthers(bool isWanted) { return std::exchange(m_replicatesOthers, isWanted); }

  /// Null for tensors of this rank alone.
  const PlacedPart* find(const Tensor& tensor) const;
  /// A handle of whole sizes and strides. Environment where there is no room for it among the addresses.
  Result<Tensor> handleOf(PlacedPart part, const Sizes& strides);

 private:
  PlacedParts() = default;

  std::unordered_map<const Storage*, PlacedPart> m_parts;
  PyTypeObject* m_type = nullptr;
  bool m_replicatesOthers = false;
};

}  // namespace kerf::inline torch_distributed
