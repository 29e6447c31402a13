#include "engine/distributed/nccl/nccl_communicator.h"

#include <algorithm>
#include <utility>

#include "engine/distributed/group/collectives.h"

namespace kerf::inline distributed::inline nccl {
namespace {

/// A tensor as ranks tell each other of it: type of elements and sizes.
void addForm(const Tensor& tensor, Sizes& form) {
  form.push_back(std::int64_t(tensor.dtype()));
  form.push_back(tensor.dim());
  form.insert(form.end(), tensor.sizes().begin(), tensor.sizes().end());
}

/// The next tensor that `form` tells of, from `at` on; uninitialized.
Result<Tensor> tensorOfForm(const Sizes& form, std::size_t& at) {
  if (at + 2 > form.size() || form[at + 1] < 0 || at + 2 + std::size_t(form[at + 1]) > form.size())
    return fail(ErrorCode::RuntimeFailed, "a message between ranks is damaged");
  const auto begin = form.begin() + std::ptrdiff_t(at) + 2;
  const Sizes sizes(begin, begin + form[at + 1]);
  const DType dtype = DType(form[at]);
  at += 2 + sizes.size();
  return Tensor::zeros(dtype, sizes);
}

}  // namespace

/// Device memory of one collective.
class NcclCommunicator::Place {
 public:
  static Result<Place> of(CudaDriver& driver, std::int64_t bytes) {
    Place place(driver);
    KERF_TRY(place.m_address, driver.allocate(bytes));
    return place;
  }
  /// What these tensors hold, one behind the other.
  static Result<Place> holding(CudaDriver& driver, const std::vector<Tensor>& tensors) {
    std::int64_t bytes = 0;
    for (const Tensor& tensor : tensors) bytes += tensor.byteSize();
    KERF_TRY(Place place, of(driver, bytes));
    std::int64_t at = 0;
    for (const Tensor& tensor : tensors) {
      KERF_TRY(const Tensor rows, tensor.contiguous());
      if (rows.byteSize() > 0)
        KERF_CHECK(driver.upload(place.m_address + std::uint64_t(at), rows.data<char>(), rows.byteSize()));
      at += rows.byteSize();
    }
    return place;
  }
  Place(Place&& other) noexcept : m_driver(other.m_driver), m_address(std::exchange(other.m_address, 0)) {}
  Place& operator=(Place&&) = delete;
  ~Place() {
    if (m_address != 0) m_driver.release(m_address);
  }

  DeviceAddress at(std::int64_t bytes = 0) const { return m_address + std::uint64_t(bytes); }
  /// Fills the tensor, which is dense, with what lies there.
  Result<void> read(const Tensor& into, std::int64_t at = 0) const {
    if (into.byteSize() == 0) return {};
    return m_driver.download(into.data<char>(), m_address + std::uint64_t(at), into.byteSize());
  }

 private:
  explicit Place(CudaDriver& driver) : m_driver(driver) {}
  CudaDriver& m_driver;
  DeviceAddress m_address = 0;
};

Result<std::vector<Tensor>> NcclCommunicator::gather(const Group& group, const CollectiveCall& call,
                                                     const Tensor& mine) {
  Sizes form;
  addForm(mine, form);
  KERF_TRY(const std::vector<Sizes> forms, m_link.meet(group, call, form));
  std::vector<Tensor> all;
  std::int64_t bytes = 0;
  bool isEven = true;
  for (const Sizes& theirs : forms) {
    std::size_t at = 0;
    KERF_TRY(Tensor tensor, tensorOfForm(theirs, at));
    bytes += tensor.byteSize();
    isEven = isEven && tensor.byteSize() == mine.byteSize();
    all.push_back(std::move(tensor));
  }
  KERF_TRY(const Place from, Place::holding(m_link.driver(), {mine}));
  KERF_TRY(const Place to, Place::of(m_link.driver(), bytes));
  const auto work = [&](NcclBatch& batch) {
    if (isEven) return batch.allGather(from.at(), to.at(), mine.byteSize());
    std::int64_t at = 0;
    for (std::size_t i = 0; i < all.size(); at += all[i++].byteSize())
      if (all[i].byteSize() > 0) batch.broadcast(from.at(), to.at(at), all[i].byteSize(), int(i));
  };
  KERF_CHECK(m_link.issue(group, call, work));
  KERF_CHECK(m_link.finish());
  std::int64_t at = 0;
  for (const Tensor& tensor : all) {
    KERF_CHECK(to.read(tensor, at));
    at += tensor.byteSize();
  }
  return all;
}

Result<void> NcclCommunicator::send(const Group& group, int to, int tag, const Tensor& tensor) {
  return m_link.control().send(group, to, tag, tensor);
}

Result<Tensor> NcclCommunicator::receive(const Group& group, int from, int tag) {
  return m_link.control().receive(group, from, tag);
}

Result<std::optional<Tensor>> NcclCommunicator::allReduce(const Group& group, const CollectiveCall& call,
                                                          const Tensor& tensor, std::string_view op) {
  const auto how = ncclReduction(tensor.dtype(), op);
  if (!how) return std::nullopt;
  KERF_CHECK(m_link.meet(group, call, {}));
  KERF_TRY(const Place place, Place::holding(m_link.driver(), {tensor}));
  KERF_CHECK(m_link.issue(group, call,
                          [&](NcclBatch& batch) { batch.allReduce(place.at(), place.at(), tensor.numel(), *how); }));
  KERF_CHECK(m_link.finish());
  KERF_TRY(Tensor result, Tensor::zeros(tensor.dtype(), tensor.sizes()));
  KERF_CHECK(place.read(result));
  return result;
}

Result<std::optional<Tensor>> NcclCommunicator::reduceScatter(const Group& group, const CollectiveCall& call,
                                                              const std::vector<Tensor>& pieces, std::string_view op) {
  const Tensor& own = pieces[std::size_t(group.indexOf(rank()))];
  const auto how = ncclReduction(own.dtype(), op);
  if (!how) return std::nullopt;
  KERF_CHECK(m_link.meet(group, call, {}));
  KERF_TRY(const Place from, Place::holding(m_link.driver(), pieces));
  KERF_TRY(const Place to, Place::of(m_link.driver(), own.byteSize()));
  KERF_CHECK(
      m_link.issue(group, call, [&](NcclBatch& batch) { batch.reduceScatter(from.at(), to.at(), own.numel(), *how); }));
  KERF_CHECK(m_link.finish());
  KERF_TRY(Tensor result, Tensor::zeros(own.dtype(), own.sizes()));
  KERF_CHECK(to.read(result));
  return result;
}

Result<std::vector<Tensor>> NcclCommunicator::exchange(const Group& group, const CollectiveCall& call,
                                                       const std::vector<Tensor>& pieces) {
  Sizes forms;
  for (const Tensor& piece : pieces) addForm(piece, forms);
  KERF_TRY(const std::vector<Sizes> all, m_link.meet(group, call, forms));
  const auto me = std::size_t(group.indexOf(rank()));
  std::vector<Tensor> come;
  std::int64_t bytes = 0;
  for (const Sizes& theirs : all) {
    std::size_t at = 0;
    std::optional<Tensor> mine;
    for (std::size_t i = 0; i <= me; ++i) {
      KERF_TRY(mine, tensorOfForm(theirs, at));
    }
    bytes += mine->byteSize();
    come.push_back(std::move(*mine));
  }
  KERF_TRY(const Place from, Place::holding(m_link.driver(), pieces));
  KERF_TRY(const Place to, Place::of(m_link.driver(), bytes));
  const auto work = [&](NcclBatch& batch) {
    std::int64_t sent = 0, got = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      batch.send(from.at(sent), pieces[i].byteSize(), int(i));
      batch.receive(to.at(got), come[i].byteSize(), int(i));
      sent += pieces[i].byteSize(), got += come[i].byteSize();
    }
  };
  KERF_CHECK(m_link.issue(group, call, work));
  KERF_CHECK(m_link.finish());
  std::int64_t at = 0;
  for (const Tensor& tensor : come) {
    KERF_CHECK(to.read(tensor, at));
    at += tensor.byteSize();
  }
  return come;
}

Result<Tensor> NcclCommunicator::broadcast(const Group& group, const CollectiveCall& call, const Tensor& tensor,
                                           int source) {
  KERF_CHECK(m_link.meet(group, call, {}));
  KERF_TRY(const Place place, Place::holding(m_link.driver(), {tensor}));
  KERF_CHECK(m_link.issue(group, call, [&](NcclBatch& batch) {
    if (tensor.byteSize() > 0) batch.broadcast(place.at(), place.at(), tensor.byteSize(), source);
  }));
  KERF_CHECK(m_link.finish());
  KERF_TRY(Tensor result, Tensor::zeros(tensor.dtype(), tensor.sizes()));
  KERF_CHECK(place.read(result));
  return result;
}

}  // namespace kerf::inline distributed::inline nccl
