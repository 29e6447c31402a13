// Short-time Fourier transforms as programs over their frames: stft and istft.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

enum Norm : std::int64_t { NormNone = 0, NormByRoot = 1, NormByLength = 2 };

std::optional<std::size_t> find(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}
std::optional<bool> flagIf(const BoundArguments& args, std::string_view name) {
  const auto at = find(args, name);
  if (!at || args.none(*at)) return {};
  return args.boolean(*at);
}

/// What both directions share.
struct Frames {
  std::int64_t length = 0, hop = 0;  ///< samples of a frame, and from one to the next
  Value window;                      ///< [length] or none
};

/// `like`: dtype of a window that stands for none in a frame shorter than the transform.
Result<Frames> framesOf(const BoundArguments& args, const OpRunner& run, DType like) {
  Frames f{args.integer(1), 0, args.values[args.position("window")]};
  f.hop = args.integerIf(2).value_or(f.length / 4);
  const std::int64_t width = args.integerIf(3).value_or(f.length);
  if (f.length <= 0 || f.hop <= 0 || width <= 0 || width > f.length)
    return mismatch(args, "expected 0 < win_length <= n_fft and 0 < hop_length, got {}, {} and {}", width, f.length,
                    f.hop);
  if (f.window.isTensor() && !checkEqual(f.window.tensor().symSizes(), SymSizes{width}))
    return mismatch(args, "expected a window of shape [{}], got [{}]", width,
                    fmt::join(f.window.tensor().symSizes(), ", "));
  if (width == f.length) return f;
  if (f.window.isNone()) {
    KERF_TRY(f.window, run("aten.ones.default"_op, {intList({width})}, {{"dtype", like}}));
  }
  const std::int64_t left = (f.length - width) / 2;
  KERF_TRY(f.window, run("aten.constant_pad_nd.default"_op,
                         {f.window, intList({left, f.length - width - left}), std::int64_t{0}}));
  return f;
}

/// Both ends extended by half a frame; padding needs at least three dimensions.
Result<Tensor> centred(const BoundArguments& args, const OpRunner& run, const Tensor& signal, std::int64_t length) {
  const std::int64_t half = length / 2;
  KERF_TRY(const Tensor wide, run("aten.unsqueeze.default"_op, {signal, std::int64_t{0}}));
  KERF_TRY(const Tensor padded,
           run("aten.pad.default"_op, {wide, intList({half, half}), args.values[args.position("pad_mode")]}));
  return run("aten.squeeze.dim"_op, {padded, std::int64_t{0}});
}

/// [time] or [batch, time] to [batch, frequency, frame].
Result<Value> stft(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() != 1 && self.dim() != 2) return mismatch(args, "expected a 1D or 2D tensor");
  KERF_TRY(const Frames f, framesOf(args, run, self.dtype()));
  const bool complexWindow = f.window.isTensor() && isComplex(f.window.tensor().dtype());
  const auto complexOut = flagIf(args, "return_complex");
  if (!complexOut && !isComplex(self.dtype()) && !complexWindow)
    return mismatch(args, "requires the return_complex parameter for real inputs");
  Tensor signal = self;
  if (self.dim() == 1) {
    KERF_TRY(signal, run("aten.unsqueeze.default"_op, {signal, std::int64_t{0}}));
  }
  if (flagIf(args, "center").value_or(false)) {
    KERF_TRY(signal, centred(args, run, signal, f.length));
  }
  const SymInt samples = signal.symSize(1);
  if (guardOrFalse(f.length > samples)) return mismatch(args, "expected n_fft <= {}, got {}", samples, f.length);
  KERF_TRY(Tensor frames, run("aten.unfold.default"_op, {signal, std::int64_t{1}, f.length, f.hop}));
  if (f.window.isTensor()) {
    KERF_TRY(frames, run("aten.mul.Tensor"_op, {frames, f.window}));
  }
  const bool complexFft = isComplex(frames.dtype());
  const bool half = flagIf(args, "onesided").value_or(!complexFft);
  if (complexFft && half) return mismatch(args, "cannot have onesided output if window or input is complex");
  const std::int64_t norm = flagIf(args, "normalized").value_or(false) ? NormByRoot : NormNone;
  KERF_TRY(Tensor out, run(complexFft ? "aten._fft_c2c.default"_op : "aten._fft_r2c.default"_op,
                           {frames, intList({2}), norm, complexFft || half}));
  KERF_TRY(out, run("aten.transpose.int"_op, {out, std::int64_t{1}, std::int64_t{2}}));
  if (self.dim() == 1) {
    KERF_TRY(out, run("aten.squeeze.dim"_op, {out, std::int64_t{0}}));
  }
  if (complexOut.value_or(true)) return Value(std::move(out));
  return run.value("aten.view_as_real.default"_op, {out});
}

/// Frames laid over one another: [batch, frame, sample] to [batch, time].
Result<Tensor> overlapped(const OpRunner& run, const Tensor& frames, const Frames& f) {
  const SymInt samples = f.length + f.hop * (frames.symSize(1) - 1);
  return run("aten.unfold_backward.default"_op,
             {frames, intList({frames.symSize(0), samples}), std::int64_t{1}, f.length, f.hop});
}

/// [batch, frequency, frame] as frames in time, [batch, frame, sample].
Result<Tensor> timeFrames(const BoundArguments& args, const OpRunner& run, const Tensor& spectrum, const Frames& f,
                          bool half) {
  KERF_TRY(Tensor turned, run("aten.transpose.int"_op, {spectrum, std::int64_t{1}, std::int64_t{2}}));
  const std::int64_t norm = flagIf(args, "normalized").value_or(false) ? NormByRoot : NormByLength;
  if (flagIf(args, "return_complex").value_or(false))
    return run("aten._fft_c2c.default"_op, {turned, intList({2}), norm, false});
  if (!half) {
    KERF_TRY(turned, run("aten.slice.Tensor"_op, {turned, std::int64_t{2}, std::int64_t{0}, f.length / 2 + 1}));
  }
  return run("aten._fft_c2r.default"_op, {turned, intList({2}), norm, f.length});
}

/// The range of samples that is returned.
struct Span {
  SymInt start = 0, end = 0;
};
Span spanOf(const BoundArguments& args, const Frames& f, SymInt samples) {
  const bool centre = flagIf(args, "center").value_or(true);
  const SymInt start = centre ? f.length / 2 : 0;
  const auto wanted = args.symIntegerIf(args.position("length"));
  return {start, wanted ? start + *wanted : samples - start};
}

/// The squared window's overlap divides the signal; where it vanishes nothing can be restored.
Result<Tensor> unwindowed(const BoundArguments& args, const OpRunner& run, const Tensor& signal, const Tensor& window,
                          const Frames& f, SymInt frames, Span span) {
  KERF_TRY(const Tensor square, run("aten.pow.Tensor_Scalar"_op, {window, std::int64_t{2}}));
  KERF_TRY(const Tensor wide, run("aten.expand.default"_op, {square, intList({1, frames, f.length})}));
  KERF_TRY(const Tensor all, overlapped(run, wide, f));
  KERF_TRY(const Tensor envelope, run("aten.slice.Tensor"_op, {all, std::int64_t{1}, span.start, span.end}));
  KERF_TRY(const Tensor part, run("aten.slice.Tensor"_op, {signal, std::int64_t{1}, span.start, span.end}));
  if (envelope.defined() && envelope.numel() > 0) {
    KERF_TRY(const Tensor size, run("aten.abs.default"_op, {envelope}));
    KERF_TRY(const Tensor least, run("aten.min.default"_op, {size}));
    if (least.itemAsDouble() < 1e-11) return mismatch(args, "window overlap add min: {}", least.itemAsDouble());
  }
  return run("aten.div.Tensor"_op, {part, envelope});
}

Result<Value> istft(const BoundArguments& args, const OpRunner& run) {
  Tensor spectrum = args.tensor(0);
  if (!isComplex(spectrum.dtype())) return mismatch(args, "requires a complex-valued input");
  const bool single = spectrum.dim() == 2;
  if ((!single && spectrum.dim() != 3) || guardOrFalse(spectrum.symNumel() == 0))
    return mismatch(args, "expected a tensor with 2 or 3 dimensions and elements");
  if (single) {
    KERF_TRY(spectrum, run("aten.unsqueeze.default"_op, {spectrum, std::int64_t{0}}));
  }
  const DType real = spectrum.dtype() == DType::Complex128 ? DType::Float64 : DType::Float32;
  KERF_TRY(const Frames f, framesOf(args, run, real));
  const auto onesided = flagIf(args, "onesided");
  const bool half = onesided ? *onesided : bool(spectrum.symSize(1) != f.length);
  if (guardOrFalse(spectrum.symSize(1) != (half ? f.length / 2 + 1 : f.length)))
    return mismatch(args, "{} frequencies do not fit n_fft={}", spectrum.symSize(1), f.length);
  const SymInt frames = spectrum.symSize(2), samples = f.length + f.hop * (frames - 1);
  Value window = f.window;
  if (window.isNone()) {
    KERF_TRY(window, run("aten.ones.default"_op, {intList({f.length})}, {{"dtype", real}}));
  }
  KERF_TRY(const Tensor inTime, timeFrames(args, run, spectrum, f, half));
  KERF_TRY(const Tensor weighted, run("aten.mul.Tensor"_op, {inTime, window}));
  KERF_TRY(const Tensor sums, overlapped(run, weighted, f));
  const Span span = spanOf(args, f, samples);
  if (guardOrFalse(span.end < span.start)) return mismatch(args, "length must not be negative");
  KERF_TRY(Tensor out, unwindowed(args, run, sums, window.tensor(), f, frames, span));
  if (single) {
    KERF_TRY(out, run("aten.squeeze.dim"_op, {out, std::int64_t{0}}));
  }
  if (guardOrFalse(span.end <= samples)) return Value(std::move(out));
  return run.value("aten.constant_pad_nd.default"_op,
                   {out, intList({0, span.end - symMax(samples, span.start)}), std::int64_t{0}});
}

#define KERF_FRAMES "int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
constexpr OpRow signalRows[] = {
    compositeRow(stft, "aten::stft(Tensor self, " KERF_FRAMES
                       "bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
                       "align_to_window=None) -> Tensor"),
    compositeRow(stft, "aten::stft.center(Tensor self, " KERF_FRAMES
                       "bool center=True, str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? "
                       "return_complex=None, bool? align_to_window=None) -> Tensor"),
    compositeRow(istft, "aten::istft(Tensor self, " KERF_FRAMES
                        "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool "
                        "return_complex=False) -> Tensor"),
};

const OpRegistration signalOps({.rows = signalRows});

}  // namespace

}  // namespace kerf::inline ops
