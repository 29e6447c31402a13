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

/// The call that made a handle from another one, of which it is a view.
struct PlacedViewStep {
  Tensor of;
  const OpInfo* op = nullptr;
  ValueList rest;  ///< arguments behind the first
  KeywordValues kwargs;
  std::size_t index = 0;  ///< which of the results
  bool isCopy = false;    ///< the parts had to move: what is written has to be brought back
};

struct PlacedPart {
  Tensor local;
  Spec spec;
  std::shared_ptr<MeshOfProgram> mesh;
  std::shared_ptr<const PlacedViewStep> step;                                  ///< of a view
  std::shared_ptr<std::uint64_t> writes = std::make_shared<std::uint64_t>(0);  ///< into any view of one base
  std::uint64_t seen = 0;                                                      ///< of those, in `local`
};

class PlacedParts : public PlacedTensors {
 public:
  /// Those of this process. Made with the first one, and never dropped.
  static PlacedParts& own();

  bool holds(const Tensor& tensor) const override { return find(tensor) != nullptr; }
  /// By DTensorOps. BadInput for tensors of two meshes.
  Result<Value> call(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) override;
  bool share(const Tensor& one, const Tensor& other) const override;
  ViewReplay replay(const Tensor& view, const Tensor& base) const override;
  PyTypeObject* type() const override { return m_type; }
  void setType(PyTypeObject* type) { m_type = type; }
  /// Whether tensors of this rank alone count as replicated where they meet placed ones; what was before.
  bool replicateOthers(bool isWanted) { return std::exchange(m_replicatesOthers, isWanted); }

  /// Null for tensors of this rank alone.
  const PlacedPart* find(const Tensor& tensor) const;
  /// Of a view that is a copy the values are those of its base again.
  Result<void> refresh(const Tensor& handle);
  /// A handle of whole sizes and strides. Environment where there is no room for it among the addresses.
  Result<Tensor> handleOf(PlacedPart part, const Sizes& strides);

 private:
  PlacedParts() = default;
  /// UnsupportedOp where it is a copy of a base that nothing can be brought back to.
  Result<void> checkWrite(const Tensor& handle) const;
  /// What was written into a view that is a copy reaches its base.
  Result<void> wrote(const Tensor& handle);
  Result<void> bringBack(const PlacedViewStep& step, const Tensor& view);

  std::unordered_map<const Storage*, PlacedPart> m_parts;
  PyTypeObject* m_type = nullptr;
  bool m_replicatesOthers = false;
};

}  // namespace kerf::inline torch_distributed
