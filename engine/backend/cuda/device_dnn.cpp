#include "engine/backend/cuda/device_dnn.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "engine/support/log.h"
#include "engine/support/shared_library.h"

namespace kerf::inline backend {

/// Declared after cuDNN's documentation: its headers are not needed to build.
struct DeviceDnn::Functions {
  std::size_t (*version)() = nullptr;
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*setStream)(void* handle, void* stream) = nullptr;
  int (*createDescriptor)(int type, void** descriptor) = nullptr;
  int (*destroyDescriptor)(void* descriptor) = nullptr;
  int (*finalize)(void* descriptor) = nullptr;
  int (*set)(void* descriptor, int attribute, int type, std::int64_t count, const void* values) = nullptr;
  int (*get)(void* descriptor, int attribute, int type, std::int64_t wanted, std::int64_t* count,
             void* values) = nullptr;
  int (*execute)(void* handle, void* plan, void* variants) = nullptr;
};

namespace {

// Numbers of cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t and cudnnBackendAttributeType_t.
namespace descriptor {
constexpr int convolution = 1, engine = 2, engineConfiguration = 3, heuristics = 4, plan = 5, forward = 10,
              backwardFilter = 11, backwardData = 12, graph = 15, variants = 16, tensor = 17;
}
namespace attribute {
constexpr int computeType = 100, mode = 101, dilations = 102, filterStrides = 103, postPaddings = 104,
              prePaddings = 105, spatialDims = 106;
constexpr int heuristicsMode = 200, heuristicsGraph = 201, heuristicsResults = 202;
constexpr int configurationEngine = 300;
constexpr int planConfiguration = 401, planWorkspace = 402, planHandle = 400;
constexpr int graphHandle = 800, graphOps = 801;
constexpr int alignment = 900, dataType = 901, dimensions = 902, strides = 903, uniqueId = 906;
constexpr int variantIds = 1000, variantPointers = 1001, variantWorkspace = 1003;
constexpr int engineNotes = 1303;
}  // namespace attribute
namespace type {
constexpr int handle = 0, dataType = 1, int64 = 3, float32 = 4, float64 = 5, pointer = 6, mode = 7, heuristics = 8,
              note = 11, descriptor = 15;
}

constexpr int crossCorrelation = 1;
constexpr std::int64_t workspaceLimit = std::int64_t{1} << 30;
/// cudnnBackendHeurMode_t: A, then what always works.
constexpr int modeA = 3, modeFallback = 2;
/// cudnnBackendNumericalNote_t: products of float32 in TF32 or less.
constexpr int noteTensorCore = 0, noteDownConverts = 1, noteCount = 10;

struct DnnType {
  DType dtype;
  int data, compute;  ///< of cudnnDataType_t
};
constexpr DnnType types[] = {
    {DType::Float32, 0, 0}, {DType::Float64, 1, 1}, {DType::Float16, 2, 0}, {DType::BFloat16, 9, 0}};

/// Attribute names of the three kinds of convolutions, in the order of ConvolutionPart.
struct PartAttributes {
  int descriptor, alpha, beta, convolution, weight, input, output;
};
constexpr PartAttributes parts[] = {{descriptor::forward, 700, 701, 702, 703, 704, 705},
                                    {descriptor::backwardData, 706, 707, 708, 709, 710, 711},
                                    {descriptor::backwardFilter, 712, 713, 714, 715, 716, 717}};
constexpr std::int64_t inputId = 1, weightId = 2, outputId = 3;

}  // namespace

/// One of cuDNN's descriptors; what fails once makes all later calls fail.
class DeviceDnn::Descriptor {
 public:
  Descriptor(const Functions& f, int kind) : m_f(&f), m_status(f.createDescriptor(kind, &m_descriptor)) {}
  Descriptor(Descriptor&& other) noexcept
      : m_f(other.m_f), m_descriptor(std::exchange(other.m_descriptor, nullptr)), m_status(other.m_status) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_status, other.m_status);
    return *this;
  }
  ~Descriptor() {
    if (m_descriptor != nullptr) m_f->destroyDescriptor(m_descriptor);
  }

  Descriptor& set(int name, int kind, std::int64_t count, const void* values) {
    if (m_status == 0) m_status = m_f->set(m_descriptor, name, kind, count, values);
    return *this;
  }
  Descriptor& setOne(int name, int kind, const auto& value) { return set(name, kind, 1, &value); }
  Descriptor& setInts(int name, const Sizes& values) {
    std::vector<std::int64_t> numbers(values.begin(), values.end());
    return set(name, type::int64, std::int64_t(numbers.size()), numbers.data());
  }
  Descriptor& setDescriptor(int name, const Descriptor& other) {
    if (m_status == 0) m_status = other.m_status;
    return setOne(name, type::descriptor, other.m_descriptor);
  }
  bool finalize() {
    if (m_status == 0) m_status = m_f->finalize(m_descriptor);
    return m_status == 0;
  }
  void* get() const { return m_descriptor; }
  int status() const { return m_status; }

 private:
  const Functions* m_f;
  void* m_descriptor = nullptr;
  int m_status;
};

struct DeviceDnn::Plan {
  std::vector<Descriptor> parts;     ///< what the plan is made of
  std::unique_ptr<Descriptor> plan;  ///< null where cuDNN has none
  std::int64_t workspace = 0;
};

DeviceDnn::DeviceDnn(DeviceQueue& queue, std::unique_ptr<Functions> functions)
    : m_queue(queue), m_f(std::move(functions)) {}

DeviceDnn::~DeviceDnn() {
  m_plans.clear();
  if (m_handle != nullptr) m_f->destroy(m_handle);
  m_queue.driver().release(m_workspace);
}

Result<std::unique_ptr<DeviceDnn>> DeviceDnn::open(DeviceQueue& queue) {
  KERF_TRY(const SharedLibrary library, SharedLibrary::open(cudaLibraryNames("libcudnn", {9, 8})));
  auto f = std::make_unique<Functions>();
  const bool complete =
      library.find("cudnnGetVersion", f->version) && library.find("cudnnCreate", f->create) &&
      library.find("cudnnDestroy", f->destroy) && library.find("cudnnSetStream", f->setStream) &&
      library.find("cudnnBackendCreateDescriptor", f->createDescriptor) &&
      library.find("cudnnBackendDestroyDescriptor", f->destroyDescriptor) &&
      library.find("cudnnBackendFinalize", f->finalize) && library.find("cudnnBackendSetAttribute", f->set) &&
      library.find("cudnnBackendGetAttribute", f->get) && library.find("cudnnBackendExecute", f->execute);
  if (!complete) return fail(ErrorCode::Environment, "this machine's libcudnn has no graphs of operations");
  std::unique_ptr<DeviceDnn> dnn(new DeviceDnn(queue, std::move(f)));
  int status = dnn->m_f->create(&dnn->m_handle);
  if (status == 0) status = dnn->m_f->setStream(dnn->m_handle, queue.driver().stream());
  if (status != 0) return fail(ErrorCode::Environment, "cuDNN does not start (status {})", status);
  const std::size_t version = dnn->m_f->version();
  dnn->m_version = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  return dnn;
}

/// The first engine of this list that computes what it should and fits; whether there is one.
bool DeviceDnn::choosePlan(const Descriptor& graph, int mode, DType dtype, Plan& plan) const {
  constexpr std::int64_t most = 16;
  const bool isExact = dtype == DType::Float32 || dtype == DType::Float64;
  Descriptor heuristics(*m_f, descriptor::heuristics);
  heuristics.setDescriptor(attribute::heuristicsGraph, graph).setOne(attribute::heuristicsMode, type::heuristics, mode);
  if (!heuristics.finalize()) return false;
  std::vector<Descriptor> configurations;
  std::array<void*, most> pointers{};
  for (void*& pointer : pointers) {
    configurations.emplace_back(*m_f, descriptor::engineConfiguration);
    pointer = configurations.back().get();
  }
  std::int64_t count = 0;
  if (m_f->get(heuristics.get(), attribute::heuristicsResults, type::descriptor, most, &count, pointers.data()) != 0)
    return false;
  for (std::size_t c = 0; c < std::size_t(std::min(count, most)); ++c) {
    Descriptor engine(*m_f, descriptor::engine);
    void* engineAt = engine.get();
    std::int64_t got = 0, notes = 0;
    std::array<int, noteCount> note{};
    const bool known =
        m_f->get(configurations[c].get(), attribute::configurationEngine, type::descriptor, 1, &got, &engineAt) == 0 &&
        m_f->get(engineAt, attribute::engineNotes, type::note, noteCount, &notes, note.data()) == 0;
    const auto last = note.begin() + std::min<std::int64_t>(notes, noteCount);
    const auto has = [&](int wanted) { return std::find(note.begin(), last, wanted) != last; };
    if (isExact && (!known || has(noteDownConverts) || has(noteTensorCore))) continue;
    auto made = std::make_unique<Descriptor>(*m_f, descriptor::plan);
    made->setOne(attribute::planHandle, type::handle, m_handle)
        .setDescriptor(attribute::planConfiguration, configurations[c]);
    if (!made->finalize()) continue;
    std::int64_t workspace = 0;
    if (m_f->get(made->get(), attribute::planWorkspace, type::int64, 1, &got, &workspace) != 0) continue;
    if (workspace > workspaceLimit) continue;
    plan.plan = std::move(made);
    plan.workspace = workspace;
    plan.parts.push_back(std::move(configurations[c]));
    return true;
  }
  return false;
}

std::unique_ptr<DeviceDnn::Plan> DeviceDnn::makePlan(const DnnConvolution& call) const {
  auto plan = std::make_unique<Plan>();
  const DnnType* dtype = std::ranges::find(types, call.dtype, &DnnType::dtype);
  if (dtype == std::end(types)) return plan;
  const auto tensor = [&](std::int64_t id, const Sizes& sizes, const Sizes& strides) {
    constexpr std::int64_t alignment = 4;
    Descriptor result(*m_f, descriptor::tensor);
    result.setOne(attribute::dataType, type::dataType, dtype->data)
        .setInts(attribute::dimensions, sizes)
        .setInts(attribute::strides, strides)
        .setOne(attribute::uniqueId, type::int64, id)
        .setOne(attribute::alignment, type::int64, std::max(alignment, itemSize(call.dtype)))
        .finalize();
    return result;
  };
  Descriptor input = tensor(inputId, call.input, call.inputStrides),
             weight = tensor(weightId, call.weight, call.weightStrides),
             output = tensor(outputId, call.output, call.outputStrides);
  Descriptor convolution(*m_f, descriptor::convolution);
  convolution.setOne(attribute::computeType, type::dataType, dtype->compute)
      .setOne(attribute::mode, type::mode, crossCorrelation)
      .setOne(attribute::spatialDims, type::int64, std::int64_t(call.padding.size()))
      .setInts(attribute::prePaddings, call.padding)
      .setInts(attribute::postPaddings, call.padding)
      .setInts(attribute::filterStrides, call.stride)
      .setInts(attribute::dilations, call.dilation)
      .finalize();
  const PartAttributes& names = parts[std::size_t(call.part)];
  Descriptor operation(*m_f, names.descriptor);
  operation.setDescriptor(names.convolution, convolution)
      .setDescriptor(names.input, input)
      .setDescriptor(names.weight, weight)
      .setDescriptor(names.output, output);
  if (call.dtype == DType::Float64)
    operation.setOne(names.alpha, type::float64, 1.0).setOne(names.beta, type::float64, 0.0);
  else
    operation.setOne(names.alpha, type::float32, 1.0f).setOne(names.beta, type::float32, 0.0f);
  operation.finalize();
  Descriptor graph(*m_f, descriptor::graph);
  graph.setDescriptor(attribute::graphOps, operation).setOne(attribute::graphHandle, type::handle, m_handle);
  if (!graph.finalize()) {
    logAt(LogCategory::Compile, LogLevel::Debug, "cuDNN refuses a convolution (status {})", graph.status());
    return plan;
  }
  if (!choosePlan(graph, modeA, call.dtype, *plan)) choosePlan(graph, modeFallback, call.dtype, *plan);
  for (Descriptor* part : {&input, &weight, &output, &convolution, &operation, &graph})
    plan->parts.push_back(std::move(*part));
  return plan;
}

Result<DeviceDnn::Plan*> DeviceDnn::planFor(const DnnConvolution& call) {
  auto& plan = m_plans[call];
  if (!plan) plan = makePlan(call);
  if (plan->plan && plan->workspace > m_workspaceBytes) {
    KERF_TRY(const DeviceAddress larger, m_queue.driver().allocate(plan->workspace));
    m_queue.driver().release(m_workspace);
    m_workspace = larger;
    m_workspaceBytes = plan->workspace;
  }
  return plan.get();
}

Result<void> DeviceDnn::execute(Plan& plan, DeviceAddress input, DeviceAddress weight, DeviceAddress output) {
  const std::array ids{inputId, weightId, outputId};
  std::array pointers{reinterpret_cast<void*>(input), reinterpret_cast<void*>(weight), reinterpret_cast<void*>(output)};
  void* workspace = reinterpret_cast<void*>(m_workspace);
  Descriptor variants(*m_f, descriptor::variants);
  variants.set(attribute::variantIds, type::int64, std::int64_t(ids.size()), ids.data())
      .set(attribute::variantPointers, type::pointer, std::int64_t(pointers.size()), pointers.data())
      .setOne(attribute::variantWorkspace, type::pointer, workspace);
  int status = variants.finalize() ? 0 : variants.status();
  if (status == 0) status = m_f->execute(m_handle, plan.plan->get(), variants.get());
  if (status != 0) return fail(ErrorCode::RuntimeFailed, "cuDNN failed (status {})", status);
  return {};
}

Result<bool> DeviceDnn::convolve(const DnnConvolution& call, DeviceAddress input, DeviceAddress weight,
                                 DeviceAddress output) {
  KERF_TRY(Plan* const plan, planFor(call));
  if (!plan->plan) return false;
  KERF_CHECK(m_queue.call({input, weight, output, m_workspace}, [&] { return execute(*plan, input, weight, output); }));
  return true;
}

}  // namespace kerf::inline backend
