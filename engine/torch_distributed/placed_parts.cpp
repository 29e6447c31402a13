#include "engine/torch_distributed/placed_parts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/mman.h>

#include "engine/distributed/dtensor/dtensor_ops.h"
#include "engine/ops/core/memory_use.h"

namespace kerf::inline torch_distributed {
namespace {

/// Addresses without memory: what reads them by mistake finds zeros, and does not crash.
std::byte* reserved(std::size_t bytes) {
  void* const start =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start == MAP_FAILED ? nullptr : static_cast<std::byte*>(start);
}

/// One call: handles of Python in, tensors of DTensorOps through, handles out.
class PlacedCall {
 public:
  PlacedCall(PlacedParts& parts, std::shared_ptr<MeshOfProgram> mesh, bool replicatesOthers)
      : m_parts(parts), m_mesh(std::move(mesh)), m_ops(m_mesh->rank), m_replicatesOthers(replicatesOthers) {}

  const DTensorOps& ops() const { return m_ops; }

  Result<Value> entered(const Value& value) {
    if (value.isTensor()) return enteredTensor(value.tensor());
    if (!value.isList()) return value;
    ValueList items;
    for (const Value& item : value.list()) {
      KERF_TRY(Value one, entered(item));
      items.push_back(std::move(one));
    }
    return Value(std::move(items));
  }

  /// `made`: the call that gave the value.
  Result<Value> left(const Value& value, PlacedViewStep made) {
    if (value.isTensor()) {
      KERF_TRY(Tensor tensor, leftTensor(value.tensor(), std::move(made)));
      return Value(std::move(tensor));
    }
    if (!value.isList()) return value;
    ValueList items;
    for (const Value& item : value.list()) {
      made.index = items.size();
      KERF_TRY(Value one, left(item, made));
      items.push_back(std::move(one));
    }
    return Value(std::move(items));
  }

  struct Entered {
    Tensor handle, inside;
  };
  /// What went in: it may have been written into.
  const std::vector<Entered>& entered() const { return m_entered; }

 private:
  Result<Value> enteredTensor(const Tensor& handle) {
    KERF_CHECK(m_parts.refresh(handle));
    const PlacedPart* part = m_parts.find(handle);
    Tensor inside = handle;
    inside.requiresGrad = false;
    inside.traced = part == nullptr && m_replicatesOthers ? madeByProgram : -1;
    if (part == nullptr) return Value(inside);
    for (const Entered& known : m_entered)
      if (known.handle.storage() == handle.storage()) return Value(known.inside);
    const Tensor whole = metaTensor(handle.dtype(), handle.symSizes(), handle.symStrides());
    inside = m_ops.fromLocal(part->local, whole, part->spec.placements);
    m_entered.push_back({handle, inside});
    return Value(inside);
  }

  /// Views know what they are of, and share its count of writes.
  void link(PlacedPart& part, PlacedViewStep made) const {
    for (const Entered& known : m_entered) {
      const bool isFirst = &known == &m_entered.front();
      const PlacedPart* of = m_parts.find(known.handle);
      made.isCopy = of->local.storage() != part.local.storage();
      if (made.isCopy && !(isFirst && has(made.op->traits, OpTrait::View))) continue;
      const bool isSame = !made.isCopy && made.rest.empty() &&
                          (made.op->id == "aten.detach.default"_op || made.op->id == "aten.alias.default"_op);
      made.of = known.handle;
      made.of.traced = -1;
      made.of.requiresGrad = false;
      part.step = isSame && of->step != nullptr ? of->step : std::make_shared<const PlacedViewStep>(std::move(made));
      part.writes = of->writes;
      part.seen = of->seen;
      return;
    }
  }

  Result<Tensor> leftTensor(const Tensor& inside, PlacedViewStep made) {
    const Spec* spec = m_ops.specOf(inside);
    if (spec == nullptr) {
      Tensor own = inside;
      own.traced = -1;
      return own;
    }
    for (const Entered& known : m_entered)
      if (known.inside.traced == inside.traced)
        return known.handle.viewAs(inside.symSizes(), inside.symStrides(), known.handle.offset());
    Tensor local = m_ops.local(inside);
    local.traced = -1;
    PlacedPart part{std::move(local), *spec, m_mesh};
    link(part, std::move(made));
    return m_parts.handleOf(std::move(part), inside.strides());
  }

  PlacedParts& m_parts;
  std::shared_ptr<MeshOfProgram> m_mesh;
  DTensorOps m_ops;
  bool m_replicatesOthers;
  std::vector<Entered> m_entered;
};

void placedIn(const PlacedParts& parts, const Value& value, std::vector<Tensor>& found) {
  if (value.isTensor() && parts.find(value.tensor()) != nullptr) found.push_back(value.tensor());
  if (!value.isList()) return;
  for (const Value& item : value.list()) placedIn(parts, item, found);
}

/// What a call writes into.
std::vector<Tensor> writtenHandles(const PlacedParts& parts, const OpInfo& op, const ValueList& args,
                                   const KeywordValues& kwargs) {
  std::vector<Tensor> written;
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i) {
    if (!writesTo(op, i)) continue;
    if (i < args.size()) placedIn(parts, args[i], written);
    for (const auto& [name, value] : kwargs)
      if (name == op.schema.arguments[i].name) placedIn(parts, value, written);
  }
  return written;
}

void eachPlaced(const PlacedParts& parts, const Value& value, std::vector<const PlacedPart*>& found) {
  if (value.isTensor())
    if (const PlacedPart* part = parts.find(value.tensor())) found.push_back(part);
  if (!value.isList()) return;
  for (const Value& item : value.list()) eachPlaced(parts, item, found);
}

}  // namespace

PlacedParts& PlacedParts::own() {
  static PlacedParts* const parts = [] {
    auto* made = new PlacedParts;  // storages that outlive everything else still take themselves out of it
    setPlacedTensors(made);
    return made;
  }();
  return *parts;
}

const PlacedPart* PlacedParts::find(const Tensor& tensor) const {
  const auto found = m_parts.find(tensor.storage().get());
  return tensor.defined() && found != m_parts.end() ? &found->second : nullptr;
}

Result<Tensor> PlacedParts::handleOf(PlacedPart part, const Sizes& strides) {
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < part.spec.sizes.size(); ++d)
    elements = part.spec.sizes[d] == 0 ? 0 : elements + (elements == 0 ? 0 : (part.spec.sizes[d] - 1) * strides[d]);
  const auto bytes = std::size_t(std::max<std::int64_t>(elements, 1) * itemSize(part.spec.dtype));
  std::byte* const start = reserved(bytes);
  if (start == nullptr)
    return fail(ErrorCode::Environment, "no room for a DTensor of {} bytes: {}", bytes, std::strerror(errno));
  struct Room {
    std::byte* start;
    std::size_t bytes;
    const Storage* storage = nullptr;
  };
  const std::shared_ptr<Room> room(new Room{start, bytes}, [this](Room* gone) {
    if (gone->storage != nullptr) m_parts.extract(gone->storage);  // what it is a view of may go with it
    ::munmap(gone->start, gone->bytes);
    delete gone;
  });
  StoragePtr storage = Storage::borrow(start, std::int64_t(bytes), room);
  room->storage = storage.get();
  const Sizes sizes = part.spec.sizes;
  const DType dtype = part.spec.dtype;
  part.local.traced = -1;
  part.local.requiresGrad = false;
  m_parts.insert_or_assign(storage.get(), std::move(part));
  return Tensor(std::move(storage), dtype, sizes, strides);
}

Result<Value> PlacedParts::call(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  std::vector<const PlacedPart*> found;
  for (const Value& value : args) eachPlaced(*this, value, found);
  for (const auto& [name, value] : kwargs) eachPlaced(*this, value, found);
  if (found.empty()) return fail(ErrorCode::Internal, "{}: no DTensor among the arguments", op.schema.qualifiedName());
  if (op.schema.name.starts_with("_c10d_functional::") || op.schema.name.starts_with("c10d::"))
    return fail(ErrorCode::UnsupportedOp,
                "{} of a DTensor: this rank has a part of it only; call full_tensor() or to_local() first",
                op.schema.qualifiedName());
  for (const PlacedPart* part : found)
    if (part->mesh != found.front()->mesh)
      return fail(ErrorCode::BadInput, "{}: the DTensors are on different device meshes", op.schema.qualifiedName());
  const std::vector<Tensor> written = writtenHandles(*this, op, args, kwargs);
  for (const Tensor& handle : written) KERF_CHECK(checkWrite(handle));
  PlacedCall call(*this, found.front()->mesh, m_replicatesOthers);
  ValueList inside;
  for (const Value& value : args) {
    KERF_TRY(Value one, call.entered(value));
    inside.push_back(std::move(one));
  }
  KeywordValues named;
  for (const auto& [name, value] : kwargs) {
    KERF_TRY(Value one, call.entered(value));
    named.emplace_back(name, std::move(one));
  }
  KERF_TRY(const Value result, call.ops().call(op.id, inside, named));
  for (const auto& [handle, tensor] : call.entered()) {
    PlacedPart& part = m_parts.at(handle.storage().get());
    part.local = call.ops().local(tensor);
    part.local.traced = -1;
    part.spec = *call.ops().specOf(tensor);
  }
  for (const Tensor& handle : written) KERF_CHECK(wrote(handle));
  PlacedViewStep made{{}, &op, {}, kwargs, 0, false};
  if (!args.empty()) made.rest.assign(args.begin() + 1, args.end());
  return call.left(result, std::move(made));
}

}  // namespace kerf::inline torch_distributed
