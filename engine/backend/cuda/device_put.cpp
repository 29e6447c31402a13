#include "engine/backend/cuda/device_put.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "engine/backend/cuda/device_checks.h"
#include "engine/backend/cuda/device_sort.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

constexpr std::size_t mostIndices = 4, mostLevels = 5;
constexpr std::int64_t pieceRows = 32, packBytes = 16, threads = 256;
/// Pieces of a level below which its parts would gain less than the kernel for them takes.
constexpr std::int64_t fewestPieces = 16;

// As the kernels take them.
struct Indices {
  DeviceAddress at[mostIndices] = {};
  DeviceShape shapes[mostIndices], along;
  long long sizes[mostIndices] = {}, strides[mostIndices] = {}, count = 0, skipped = 0;
};
struct Writes {
  DeviceAddress out = 0, self = 0, values = 0, parts = 0, keys = 0, order = 0, ranges = 0;
  DeviceShape place, rest, selfPlace, selfRest, valueRows, valueRest;
  double factor = 1;
  long long wholeFactor = 1;
  long long rows = 0, places = 0, width = 0, partsAt[mostLevels + 1] = {}, includes = 0, mean = 0, assigns = 0;
  int team = 0, levels = 0, chunks = 1,
      unused = 0;  // no byte that nobody sets: captured graphs are told by all of them
};

struct Combination {
  std::string_view combine, start;               ///< what START is for floats
  std::string_view integerStart, unsignedStart;  ///< of 64 bits
  std::string_view startOf(DType dtype) const {
    return isFloating(dtype) ? start : dtype == DType::UInt64 ? unsignedStart : integerStart;
  }
};
constexpr Combination combinations[] = {
    {"(b)", "0", "0", "0"},          // Assign
    {"((a) + (b))", "0", "0", "0"},  // Sum
    {"((a) * (b))", "1", "1", "1"},  // Product
    {"((a) + (b))", "0", "0", "0"},  // Mean
    {"kerf_max((A)(a), (A)(b))", "-__longlong_as_double(0x7ff0000000000000ll)", "(-9223372036854775807ll - 1)", "0"},
    {"kerf_min((A)(a), (A)(b))", "__longlong_as_double(0x7ff0000000000000ll)", "9223372036854775807ll",
     "18446744073709551615ull"},
};

struct NamedPutKind {
  std::string_view name;
  PutKind kind;
};
constexpr NamedPutKind kinds[] = {{"sum", PutKind::Sum},          {"add", PutKind::Sum},   {"prod", PutKind::Product},
                                  {"multiply", PutKind::Product}, {"mean", PutKind::Mean}, {"amax", PutKind::Max},
                                  {"amin", PutKind::Min}};

std::int64_t product(const Sizes& sizes) {
  std::int64_t result = 1;
  for (const std::int64_t size : sizes) result *= size;
  return result;
}

Sizes picked(const Sizes& of, const std::vector<std::size_t>& dims) {
  Sizes result;
  for (const std::size_t d : dims) result.push_back(of[d]);
  return result;
}

/// The dimensions of out that tell places, in order.
std::vector<std::size_t> placeDims(const DevicePut& put) {
  std::vector<std::size_t> dims = put.indexed;
  dims.insert(dims.end(), put.along.begin(), put.along.end());
  std::ranges::sort(dims);
  return dims;
}

bool isTaken(const DevicePut& put) {
  const std::int64_t rows = product(put.rows), places = product(picked(put.out->sizes(), placeDims(put)));
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto isIndex = [](const Tensor* t) { return t->dtype() == DType::Int64; };
  return putTakes(put.out->dtype(), put.kind) && !put.indices.empty() && put.indices.size() <= mostIndices &&
         std::ranges::all_of(put.indices, isIndex) && rows <= most && places < std::int64_t{1} << 62 &&
         put.out->sizes().size() <= DeviceShape::most && put.rows.size() <= DeviceShape::most;
}

/// The number of each row's place; what is no place gets `places`.
Result<void> findPlaces(const DeviceCall& call, const DevicePut& put, const KernelMacros& macros,
                        const std::vector<std::size_t>& dims, std::int64_t places, const DeviceKeys& keys) {
  const Sizes& sizes = put.out->sizes();
  Sizes steps(sizes.size(), 0);  // of each dimension in the number of a place
  std::int64_t step = 1;
  for (std::size_t d = dims.size(); d-- > 0; step *= sizes[dims[d]]) steps[dims[d]] = step;
  Indices indices;
  indices.count = (long long)(put.indices.size()), indices.skipped = put.skipped;
  std::uint64_t last = 0;
  for (std::size_t k = 0; k < put.indices.size(); ++k) {
    const std::size_t dim = put.indexed[k];
    KERF_TRY(indices.at[k], call.on.addressOf(*put.indices[k]));
    KERF_TRY(indices.shapes[k], DeviceShape::merged(put.rows, put.indexStrides[k]));
    indices.sizes[k] = sizes[dim], indices.strides[k] = steps[dim];
    last = call.on.checks.announce({call.args.opName(), {}, sizes[dim], std::int64_t(dim), put.wraps});
  }
  Sizes along(put.rows.size(), 0);
  for (std::size_t i = 0; i < put.along.size(); ++i) along[put.rowDims[i]] = steps[put.along[i]];
  KERF_TRY(indices.along, DeviceShape::merged(put.rows, along));
  KernelArguments arguments;
  arguments.add(keys.keys).add(indices).add(keys.count).add(places).add(int(put.wraps));
  arguments.add(std::uint64_t(last + 1 - put.indices.size())).add(call.on.checks.found());
  return call.on.library.launch(putSource(), "kerf_put_keys", macros, (keys.count + threads - 1) / threads, threads,
                                arguments);
}

Result<void> shapeWrites(const DevicePut& put, const std::vector<std::size_t>& dims, Writes& writes) {
  const Tensor& out = *put.out;
  const Tensor& self = put.self ? *put.self : out;
  KERF_TRY(writes.place, DeviceShape::merged(picked(out.sizes(), dims), picked(out.strides(), dims)));
  KERF_TRY(writes.rest, DeviceShape::merged(picked(out.sizes(), put.rest), picked(out.strides(), put.rest)));
  KERF_TRY(writes.selfPlace, DeviceShape::merged(picked(out.sizes(), dims), picked(self.strides(), dims)));
  KERF_TRY(writes.selfRest, DeviceShape::merged(picked(out.sizes(), put.rest), picked(self.strides(), put.rest)));
  KERF_TRY(writes.valueRows, DeviceShape::merged(put.rows, put.valueRows));
  KERF_TRY(writes.valueRest, DeviceShape::merged(picked(out.sizes(), put.rest), put.valueRest));
  return {};
}

/// Elements that a thread takes at once.
std::int64_t vectorOf(const Writes& writes, std::int64_t width, std::int64_t itemBytes) {
  const std::int64_t vector = packBytes / itemBytes;
  bool fits = width % vector == 0;
  for (const DeviceAddress address : {writes.out, writes.self, writes.values})
    fits = fits && address % std::uint64_t(packBytes) == 0;
  for (const DeviceShape* shape : {&writes.rest, &writes.selfRest, &writes.valueRest}) fits = fits && shape->isRow();
  for (const DeviceShape* shape : {&writes.place, &writes.selfPlace, &writes.valueRows})
    for (long long d = 0; d < shape->dims; ++d) fits = fits && shape->strides[d] % vector == 0;
  return fits ? vector : 1;
}

/// Logarithm of how many threads go along a row: those that leave the fewest idle, the most of them.
int teamOf(std::int64_t width) {
  int best = 0;
  double least = std::numeric_limits<double>::max();
  for (int team = 0; team <= 8; ++team) {
    const std::int64_t lanes = std::int64_t{1} << team, rounds = (width + lanes - 1) / lanes;
    if (lanes >= 2 * width) break;
    const double cost = double(rounds * lanes) / double(width) + (team < 5 ? 0.1 * (5 - team) : 0);
    if (cost <= least) least = cost, best = team;
  }
  return best;
}

/// `each`: rows that a team takes.
std::int64_t blocksOf(const Writes& writes, std::int64_t rows, std::int64_t each) {
  each *= threads >> writes.team;
  return (rows + each - 1) / each * writes.chunks;
}

/// Parts of every level that has pieces enough.
Result<void> addParts(const DeviceCall& call, const KernelMacros& macros, Writes& writes, std::int64_t vector) {
  std::int64_t pieces = writes.rows, total = 0;
  while (std::size_t(writes.levels) < mostLevels && pieces / pieceRows >= fewestPieces) {
    pieces /= pieceRows;
    writes.partsAt[++writes.levels] = total;
    total += pieces * writes.width * vector;
  }
  if (writes.levels == 0) return {};
  const std::int64_t sumBytes = itemSize(sumType(call.out(0).dtype()));
  KERF_TRY(writes.parts, call.on.scratch.take(total * sumBytes));
  pieces = writes.rows;
  for (int level = 1; level <= writes.levels; ++level) {
    pieces /= pieceRows;
    KernelArguments arguments;
    arguments.add(writes).add(level);
    KERF_CHECK(
        call.on.library.launch(putSource(), "kerf_put_parts", macros, blocksOf(writes, pieces, 1), threads, arguments));
  }
  return {};
}

}  // namespace

std::optional<PutKind> putKindNamed(std::string_view reduction) {
  const auto* named = std::ranges::find(kinds, reduction, &NamedPutKind::name);
  return named == std::end(kinds) ? std::nullopt : std::optional(named->kind);
}

bool putTakes(DType dtype, PutKind kind) {
  return !memoryType(dtype).empty() && (dtype != DType::Bool || kind == PutKind::Assign);
}

KernelMacros putMacros(DType dtype, PutKind kind, std::int64_t keyBytes, std::int64_t vector, bool simple,
                       PutDepth depth) {
  KernelMacros macros = typeMacros(dtype, dtype);
  const Combination& how = combinations[std::size_t(kind)];
  macros.emplace_back("K", keyType(keyBytes));
  macros.emplace_back("V", std::to_string(vector));
  macros.emplace_back("SIMPLE", simple ? "1" : "0");
  macros.emplace_back("ROWS", std::to_string(depth.places));
  macros.emplace_back("AHEAD", std::to_string(depth.ahead));
  macros.emplace_back("COMBINE(a, b)", how.combine);
  macros.emplace_back("START", fmt::format("((A){})", how.startOf(dtype)));
  macros.emplace_back("FACTOR(put)", isFloating(dtype) ? "(put).factor" : "(put).wholeFactor");
  macros.emplace_back("OVER(a, n)",
                      isFloating(dtype) ? "((a) / (A)(n))" : "((a) >= 0 ? (a) / (n) : -((-(a) + (n) - 1) / (n)))");
  return macros;
}

Result<bool> putRows(const DeviceCall& call, const DevicePut& put) {
  if (!isTaken(put)) return false;
  KERF_TRY(const bool alongLines, putAlongLines(call, put));
  if (alongLines) return true;
  const Tensor& out = *put.out;
  const std::vector<std::size_t> dims = placeDims(put);
  const std::int64_t rows = product(put.rows), places = product(picked(out.sizes(), dims));
  const std::int64_t width = product(picked(out.sizes(), put.rest)), itemBytes = itemSize(out.dtype());
  const bool inPlace = put.self != nullptr && put.self->storage() == out.storage();
  Writes writes;
  writes.rows = rows, writes.places = places, writes.values = put.values;
  writes.includes = put.includesSelf, writes.mean = put.kind == PutKind::Mean,
  writes.assigns = put.kind == PutKind::Assign;
  writes.factor = put.factor, writes.wholeFactor = std::int64_t(put.factor);
  KERF_CHECK(shapeWrites(put, dims, writes));
  if (out.numel() == 0 && rows == 0) return true;
  KERF_TRY(writes.out, call.on.addressOf(out, true));
  // Each place once costs as much as a copy where rows are long; short ones are copied, and then written one by one,
  // and so are few rows among zeros, which the device clears faster than a kernel that looks for what each place gets.
  const bool isSparse = !put.self && rows <= places;
  const bool all =
      !inPlace && !isSparse && width * itemBytes >= packBytes && places <= std::numeric_limits<std::int32_t>::max();
  if (all && put.self) {
    KERF_TRY(writes.self, call.on.addressOf(*put.self));
  }
  if (!all && !put.self) KERF_CHECK(call.on.queue.clear(writes.out, out.byteSize()));
  if (!all && put.self) {
    if (!inPlace) KERF_CHECK(copyInto(call, *put.self, put.self->strides(), out));
    writes.self = writes.out, writes.selfPlace = writes.place, writes.selfRest = writes.rest;
  }
  const std::int64_t vector = vectorOf(writes, width, itemBytes);
  writes.width = width / vector, writes.team = teamOf(writes.width);
  const bool simple = std::ranges::all_of(std::array{&writes.place, &writes.rest, &writes.selfPlace, &writes.selfRest,
                                                     &writes.valueRows, &writes.valueRest},
                                          [](const DeviceShape* shape) { return shape->dims <= 1; });
  const std::int64_t lanes = std::int64_t{1} << writes.team;
  writes.chunks = int((writes.width + lanes - 1) / lanes);
  DeviceKeys keys{0, 0, rows, places < std::int64_t{1} << 32 ? 4 : 8};
  const PutDepth depth = !simple ? PutDepth{1, 1} : rows > places ? PutDepth{2, 4} : PutDepth{4, 2};
  const KernelMacros macros = putMacros(out.dtype(), put.kind, keys.bytes, vector, simple, depth);
  KERF_TRY(keys.keys, call.on.scratch.take(rows * keys.bytes));
  KERF_CHECK(findPlaces(call, put, macros, dims, places, keys));
  // Without indices that are left out, what is no place may lie among the rows of any: the run ends with an error.
  const std::uint64_t largest = put.skipped < 0 ? std::max<std::int64_t>(places - 1, 1) : places;
  KERF_TRY(keys, sortKeys(call.on, keys, 0, std::bit_width(largest)));
  writes.keys = keys.keys, writes.order = keys.order;
  if (all) {
    KERF_TRY(writes.ranges, call.on.scratch.take(places * 8));
    KERF_CHECK(call.on.queue.clear(writes.ranges, places * 8));
    KernelArguments ranges;
    ranges.add(writes.keys).add(writes.ranges).add(rows).add(places);
    KERF_CHECK(call.on.library.launch(putSource(), "kerf_put_ranges", macros, (rows + threads - 1) / threads, threads,
                                      ranges));
  }
  if (put.kind != PutKind::Assign) KERF_CHECK(addParts(call, macros, writes, vector));
  KernelArguments last;
  last.add(writes);
  KERF_CHECK(call.on.library.launch(putSource(), "kerf_put", macros,
                                    blocksOf(writes, all ? places : rows, depth.places), threads, last));
  return true;
}

std::vector<LibraryKernel> putKernels() {
  std::vector<LibraryKernel> all;
  const auto add = [&](DType dtype, PutKind kind, std::int64_t keyBytes, std::int64_t vector, bool simple) {
    for (const char* name : {"kerf_put_keys", "kerf_put_ranges", "kerf_put_parts", "kerf_put"})
      all.push_back({putSource(), name,
                     putMacros(dtype, kind, keyBytes, vector, simple, simple ? PutDepth{4, 2} : PutDepth{1, 1})});
  };
  for (const DType dtype : {DType::Float32, DType::BFloat16})
    add(dtype, PutKind::Sum, 4, packBytes / itemSize(dtype), true);
  for (const DType dtype : {DType::Float64, DType::Float16, DType::Int64}) add(dtype, PutKind::Sum, 8, 1, false);
  add(DType::BFloat16, PutKind::Mean, 4, 1, false);
  for (const char* name : {"kerf_put_keys", "kerf_put"})
    all.push_back({putSource(), name, putMacros(DType::BFloat16, PutKind::Sum, 4, 8, true, {2, 4})});
  add(DType::Int32, PutKind::Max, 4, 1, true);
  add(DType::Bool, PutKind::Assign, 4, 1, false);
  return all;
}

}  // namespace kerf::inline backend
