// torch.functional and the methods that PyTorch wrote in Python: einsum, meshgrid, tensordot, split, norm, unique.
#include <algorithm>
#include <array>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

/// f(a, b) and f([a, b]) are one.
ValueList operandsOf(const ValueList& args) { return args.size() == 1 && args[0].isList() ? args[0].list() : args; }

bool isEllipsis(const Value& value) { return value.as<std::string>() && *value.as<std::string>() == "..."; }

/// The dimensions [0, 2, ...] of a sublist as "AC...".
Result<std::string> subscripts(const Value& sublist) {
  if (!sublist.isList()) return fail(ErrorCode::BadInput, "einsum: a subscript list must follow each operand");
  std::string text;
  for (const Value& item : sublist.list()) {
    const auto* index = item.as<std::int64_t>();
    if (isEllipsis(item))
      text += "...";
    else if (index != nullptr && *index >= 0 && *index < 52)
      text += char(*index < 26 ? 'A' + *index : 'a' + (*index - 26));
    else
      return fail(ErrorCode::BadInput, "einsum: subscripts must be ints from 0 to 51 or ...");
  }
  return text;
}

/// einsum(equation, *operands) and einsum(operand, subscripts, …[, result subscripts])
Result<Value> einsum(const PythonCall& call) {
  if (call.args.size() < 2) return fail(ErrorCode::BadInput, "einsum: an equation and an operand are needed");
  const ValueList rest(call.args.begin() + 1, call.args.end());
  if (call.args[0].as<std::string>()) return call.aten("einsum.default", {call.args[0], Value(operandsOf(rest))});
  std::string equation;
  ValueList operands;
  for (std::size_t i = 0; i + 1 < call.args.size(); i += 2) {
    KERF_TRY(const std::string part, subscripts(call.args[i + 1]));
    equation += (i == 0 ? "" : ",") + part;
    operands.push_back(call.args[i]);
  }
  if (call.args.size() % 2 == 1) {
    KERF_TRY(const std::string result, subscripts(call.args.back()));
    equation += "->" + result;
  }
  return call.aten("einsum.default", {Value(equation), Value(std::move(operands))});
}

/// The items of a list that PyTorch's parser takes for a list of tensors.
Result<void> checkItems(const PythonCall& call, const Value& tensors) {
  for (std::size_t i = 0; i < tensors.list().size(); ++i)
    if (!tensors.list()[i].isTensor())
      return fail(ErrorCode::ShapeMismatch, "{}: item {} of the operands must be a tensor", call.name, i);
  return {};
}

Result<Value> meshgrid(const PythonCall& call) {
  const Value tensors(operandsOf(call.args)), indexing = call.get(SIZE_MAX, "indexing");
  KERF_CHECK(checkItems(call, tensors));
  if (indexing.isNone()) return call.aten("meshgrid.default", {tensors});
  return call.aten("meshgrid.indexing", {tensors}, {{"indexing", indexing}});
}

Value range(std::int64_t from, std::int64_t to) {
  ValueList items;
  for (; from < to; ++from) items.emplace_back(from);
  return Value(std::move(items));
}

/// The last `dims` dimensions of `a` with the first of `b`, or the pairs that two lists name.
Result<Value> tensordot(const PythonCall& call) {
  const Value a = call.get(0, "a"), b = call.get(1, "b"), dims = call.get(2, "dims");
  if (!call.get(SIZE_MAX, "out").isNone()) return fail(ErrorCode::UnsupportedOp, "tensordot: out is not supported");
  if (const auto count = dims.asSymInt()) {
    const std::int64_t number = *count;
    if (number < 0) return fail(ErrorCode::BadInput, "tensordot: dims must not be negative, got {}", number);
    return call.aten("tensordot.default", {a, b, range(-number, 0), range(0, number)});
  }
  if (!dims.isList() || dims.list().size() != 2 || !dims.list()[0].isList() || !dims.list()[1].isList())
    return fail(ErrorCode::BadInput, "tensordot: dims must be an int or two lists of ints");
  return call.aten("tensordot.default", {a, b, dims.list()[0], dims.list()[1]});
}

/// split(tensor, size or sizes, dim)
Result<Value> split(const PythonCall& call) {
  const bool method = call.find(SIZE_MAX, "split_size") != nullptr;
  const Value tensor = call.get(0, method ? "self" : "tensor");
  const Value size = call.get(1, method ? "split_size" : "split_size_or_sections"), dim = call.get(2, "dim");
  if (size.as<bool>() != nullptr) return fail(ErrorCode::BadInput, "split: the size of a part must be an int");
  ValueList args{tensor, size};
  if (dim.asSymInt() != SymInt(0)) args.push_back(dim);
  return call.aten(size.isList() ? "split_with_sizes.default" : "split.Tensor", args);
}

Result<Value> allDims(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  return range(0, input.dim());
}

/// norm(input, p, dim, keepdim, dtype): of vectors, but for the names of norms of matrices.
Result<Value> norm(const PythonCall& call) {
  if (!call.get(SIZE_MAX, "out").isNone()) return fail(ErrorCode::UnsupportedOp, "norm: out is not supported");
  KERF_CHECK(call.tensor(0, "input"));
  const Value input = call.get(0, "input"), keep = call.get(3, "keepdim");
  Value p = call.get(1, "p"), dim = call.get(2, "dim");
  if (!dim.isNone() && !dim.isList() && !dim.asSymInt())
    return fail(ErrorCode::BadInput, "norm: dim must be an int or ints");
  if (dim.asSymInt()) dim = Value(ValueList{dim});
  KeywordValues dtype;
  if (const Value given = call.get(5, "dtype"); !given.isNone()) dtype.emplace_back("dtype", given);
  const std::string* named = p.as<std::string>();
  if (named != nullptr && *named == "fro" && (dim.isNone() || dim.list().size() <= 2))
    p = Value(std::int64_t{2});
  else if (named != nullptr) {
    if (dim.isNone()) {
      KERF_TRY(dim, allDims(call));
    }
    return call.aten("linalg_matrix_norm.str_ord", {input, p, dim, keep}, dtype);
  }
  if (p.isNone()) p = Value(2.0);
  const bool keeps = call.flag(3, "keepdim", false);
  ValueList args{input, p};
  if (!dim.isNone() || keeps) args.push_back(dim);
  if (keeps) args.push_back(keep);
  return call.aten("linalg_vector_norm.default", args, dtype);
}

/// Of values, inverse and counts, what was asked for; one is no tuple.
Value asked(const Value& all, bool inverse, bool counts) {
  ValueList items{all.list()[0]};
  if (inverse) items.push_back(all.list()[1]);
  if (counts) items.push_back(all.list()[2]);
  return items.size() == 1 ? items[0] : Value(std::move(items));
}

Result<Value> unique(const PythonCall& call) {
  KERF_CHECK(call.tensor(0, "input"));
  const Value input = call.get(0, "input"), dim = call.get(4, "dim");
  const bool inverse = call.flag(2, "return_inverse", false), counts = call.flag(3, "return_counts", false);
  const Value sorted(call.flag(1, "sorted", true));
  KERF_TRY(const Value all, dim.isNone()
                                ? call.aten("_unique2.default", {input, sorted, Value(inverse), Value(counts)})
                                : call.aten("unique_dim.default", {input, dim, sorted, Value(inverse), Value(counts)}));
  return asked(all, inverse, counts);
}

Result<Value> uniqueConsecutive(const PythonCall& call) {
  const bool inverse = call.flag(1, "return_inverse", false), counts = call.flag(2, "return_counts", false);
  KERF_TRY(const Value all, call.aten("unique_consecutive.default",
                                      {call.get(0, "input"), Value(inverse), Value(counts), call.get(3, "dim")}));
  const bool method =
      std::ranges::find(call.kwargs, "self", &std::pair<std::string, Value>::first) != call.kwargs.end();
  if (method) return asked(all, inverse, counts);
  // PyTorch 2.11 takes the flags that stand by position for each other when it chooses what to return.
  return asked(all,
               call.positional > 2   ? counts
               : call.positional > 1 ? false
                                     : inverse,
               call.positional > 1 ? inverse : counts);
}

/// atleast_1d, 2d, 3d of one tensor, or of each.
Result<Value> atLeast(const PythonCall& call) {
  const std::string op = fmt::format("{}.default", call.name);
  if (call.args.size() == 1 && !call.args[0].isList()) return call.aten(op, {call.args[0]});
  ValueList results;
  for (const Value& tensor : operandsOf(call.args)) {
    KERF_TRY(Value result, call.aten(op, {tensor}));
    results.push_back(std::move(result));
  }
  return Value(std::move(results));
}

/// block_diag, cartesian_prod, chain_matmul: the op takes a list.
Result<Value> ofTensors(const PythonCall& call) {
  const Value tensors(operandsOf(call.args));
  KERF_CHECK(checkItems(call, tensors));
  return call.aten(fmt::format("{}.default", call.name), {tensors});
}

/// The size that all tensors broadcast to.
Result<SymSizes> commonSize(const ValueList& tensors) {
  SymSizes size;
  for (const Value& item : tensors) {
    if (!item.isTensor()) return fail(ErrorCode::ShapeMismatch, "broadcast_tensors: expects tensors");
    const SymSizes& own = item.tensor().symSizes();
    while (size.size() < own.size()) size.insert(size.begin(), SymInt(1));
    for (std::size_t i = 0; i < own.size(); ++i) {
      SymInt& wide = size[size.size() - own.size() + i];
      if (own[i] == 1 || own[i] == wide) continue;
      if (wide != 1) return fail(ErrorCode::ShapeMismatch, "broadcast_tensors: sizes {} and {} differ", wide, own[i]);
      wide = own[i];
    }
  }
  return size;
}

Result<Value> broadcastTensors(const PythonCall& call) {
  const ValueList tensors = operandsOf(call.args);
  KERF_TRY(const SymSizes size, commonSize(tensors));
  ValueList results;
  for (const Value& tensor : tensors) {
    if (tensor.tensor().symSizes() == size) {
      results.push_back(tensor);
      continue;
    }
    KERF_TRY(Value wide, call.aten("expand.default", {tensor, intList(size)}));
    results.push_back(std::move(wide));
  }
  return Value(std::move(results));
}

Result<Value> cdist(const PythonCall& call) {
  const Value named = call.get(3, "compute_mode");
  const std::string mode = named.as<std::string>() ? *named.as<std::string>() : "";
  const Value number = mode == "use_mm_for_euclid_dist"         ? Value(std::int64_t{1})
                       : mode == "donot_use_mm_for_euclid_dist" ? Value(std::int64_t{2})
                                                                : Value();
  if (number.isNone() && mode != "use_mm_for_euclid_dist_if_necessary")
    return fail(ErrorCode::BadInput, "cdist: '{}' is not a valid value for compute_mode", mode);
  ValueList args{call.get(0, "x1"), call.get(1, "x2"), Value(call.number(2, "p", 2))};
  if (!number.isNone()) args.push_back(number);
  return call.aten("cdist.default", args);
}

/// stft(input, n_fft, …, center, pad_mode, …): centred frames see the signal's reflection.
Result<Value> stft(const PythonCall& call) {
  KERF_TRY(Tensor input, call.tensor(0, "input"));
  const std::int64_t width = call.integer(1, "n_fft", 0);
  if (call.truth(5, "center", true)) {
    SymSizes led(std::size_t(std::max<std::int64_t>(3 - input.dim(), 0)), SymInt(1));
    led.append(input.symSizes().begin(), input.symSizes().end());
    const std::int64_t rank = input.dim();
    KERF_TRY(const Value viewed, call.aten("view.default", {Value(input), intList(led)}));
    KERF_TRY(const Tensor padded,
             call.atenTensor("pad.default", {viewed, intList({width / 2, width / 2}), call.get(6, "pad_mode")}));
    const SymSizes own(padded.symSizes().end() - rank, padded.symSizes().end());
    KERF_TRY(input, call.atenTensor("view.default", {Value(padded), intList(own)}));
  }
  return call.aten("stft.default", {Value(input), Value(width), call.get(2, "hop_length"), call.get(3, "win_length"),
                                    call.get(4, "window"), call.get(7, "normalized"), call.get(8, "onesided"),
                                    call.get(9, "return_complex"), call.get(10, "align_to_window")});
}

Result<Value> unflatten(const PythonCall& call) {
  return call.aten("unflatten.int", {call.get(0, "self"), call.get(1, "dim"), call.get(2, "sizes")});
}

/// torch.nn.init: writes into its tensor.
struct Initializer {
  std::string_view name;
  std::string_view op;
  std::array<std::string_view, 2> parameters;
};
constexpr Initializer initializers[] = {
    {"uniform_", "uniform_.default", {"a", "b"}}, {"normal_", "normal_.default", {"mean", "std"}},
    {"constant_", "fill_.Scalar", {"val", ""}},   {"zeros_", "fill_.Scalar", {"", ""}},
    {"ones_", "fill_.Scalar", {"", ""}},
};
Result<Value> initialize(const PythonCall& call) {
  const auto& row = *std::ranges::find(initializers, call.name, &Initializer::name);
  ValueList args{call.get(0, "tensor")};
  for (const std::string_view parameter : row.parameters)
    if (!parameter.empty()) args.push_back(call.get(SIZE_MAX, parameter));
  if (args.size() == 1) args.emplace_back(call.name == "ones_" ? 1.0 : 0.0);
  return call.aten(row.op, args);
}

/// nonzero(as_tuple=True) and where(condition): the indices of each dimension.
Result<Value> nonzeroTuple(const PythonCall& call, const Value& input) {
  Value wide = input;
  if (input.isTensor() && input.tensor().dim() == 0) {
    KERF_TRY(wide, call.aten("unsqueeze.default", {input, Value(std::int64_t{0})}));
  }
  KERF_TRY(const Value places, call.aten("nonzero.default", {wide}));
  return call.aten("unbind.int", {places, Value(std::int64_t{1})});
}
Result<Value> nonzero(const PythonCall& call) {
  if (call.flag(SIZE_MAX, "as_tuple", false)) return nonzeroTuple(call, call.get(0, "input"));
  return call.aten("nonzero.default", {call.get(0, "input")});
}
Result<Value> whereTrue(const PythonCall& call) { return nonzeroTuple(call, call.get(0, "condition")); }

/// hsplit, vsplit, dsplit: tensor_split along the dimension of that direction, in equal parts.
Result<Value> directedSplit(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  const std::int64_t dim = call.name == "vsplit" ? 0 : call.name == "dsplit" ? 2 : input.dim() == 1 ? 0 : 1;
  if (input.dim() <= dim || (call.name == "vsplit" && input.dim() < 2))
    return fail(ErrorCode::ShapeMismatch, "{}: the tensor has too few dimensions", call.name);
  if (const Value parts = call.get(SIZE_MAX, "indices"); !parts.isNone())
    return call.aten("tensor_split.indices", {Value(input), parts, Value(dim)});
  const std::int64_t sections = call.integer(SIZE_MAX, "sections", 0);
  if (sections <= 0 || floorMod(input.symSize(dim), sections) != 0)
    return fail(ErrorCode::ShapeMismatch, "{}: size {} does not split into {} parts", call.name, input.symSize(dim),
                sections);
  return call.aten("tensor_split.sections", {Value(input), Value(sections), Value(dim)});
}

constexpr PythonRow rows[] = {
    {"nonzero", nonzero},
    {"torch.where(Tensor condition)", whereTrue},
    {"hsplit", directedSplit},
    {"vsplit", directedSplit},
    {"dsplit", directedSplit},
    {"Tensor.unflatten", unflatten},
    {"torch.nn.init.uniform_", initialize},
    {"torch.nn.init.normal_", initialize},
    {"torch.nn.init.constant_", initialize},
    {"torch.nn.init.zeros_", initialize},
    {"torch.nn.init.ones_", initialize},
    {"torch.einsum", einsum},
    {"torch.meshgrid", meshgrid},
    {"torch.tensordot", tensordot},
    {"torch.split", split},
    {"Tensor.split", split},
    {"torch.norm", norm},
    {"Tensor.norm", norm},
    {"torch.unique", unique},
    {"Tensor.unique", unique},
    {"torch.unique_consecutive", uniqueConsecutive},
    {"Tensor.unique_consecutive", uniqueConsecutive},
    {"torch.atleast_1d", atLeast},
    {"torch.atleast_2d", atLeast},
    {"torch.atleast_3d", atLeast},
    {"torch.block_diag", ofTensors},
    {"torch.cartesian_prod", ofTensors},
    {"torch.chain_matmul", ofTensors},
    {"torch.broadcast_tensors", broadcastTensors},
    {"torch.cdist", cdist},
    {"torch.stft", stft},
    {"Tensor.stft", stft},
};

}  // namespace

PythonRows torchFunctionRows() { return rows; }

}  // namespace kerf::inline ops
