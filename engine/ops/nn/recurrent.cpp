// Recurrent layers: LSTM, GRU and plain cells, single steps and whole sequences, by PyTorch's equations.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

enum class Cell : std::uint8_t { Lstm, Gru, Tanh, Relu };

struct Weights {
  Tensor input, hidden;
  Value inputBias, hiddenBias;
  Value projection{};  ///< of the new hidden state of an LSTM, or none
};

Result<Tensor> linearLayer(const OpRunner& run, const Tensor& x, const Tensor& weight, const Value& bias) {
  if (x.dim() != 2 || weight.dim() != 2 || !guardOrTrue(x.symSize(1) == weight.symSize(1)))
    return fail(ErrorCode::ShapeMismatch, "a step of shape [{}] does not fit a weight of shape [{}]",
                fmt::join(x.symSizes(), ", "), fmt::join(weight.symSizes(), ", "));
  KERF_TRY(const Tensor turned, run("aten.t.default"_op, {weight}));
  if (bias.isNone()) return run("aten.mm.default"_op, {x, turned});
  return run("aten.addmm.default"_op, {bias, x, turned});
}

Result<std::vector<Tensor>> chunks(const OpRunner& run, const Tensor& gates, std::int64_t count) {
  if (gates.dim() != 2 || !guardOrTrue(floorMod(gates.symSize(1), count) == 0))
    return fail(ErrorCode::ShapeMismatch, "gates of shape [{}] do not split into {}", fmt::join(gates.symSizes(), ", "),
                count);
  std::vector<Tensor> parts;
  const SymInt width = floorDiv(gates.symSize(1), count);
  for (std::int64_t i = 0; i < count; ++i) {
    KERF_TRY(Tensor part, run("aten.slice.Tensor"_op, {gates, std::int64_t{1}, i * width, (i + 1) * width}));
    parts.push_back(std::move(part));
  }
  return parts;
}

struct State {
  Tensor hidden, cell;
};

/// i, f, g, o: c' = σ(f) c + σ(i) tanh(g); h' = σ(o) tanh(c')
Result<State> lstmStep(const OpRunner& run, const Tensor& gates, const State& state) {
  KERF_TRY(const std::vector<Tensor> part, chunks(run, gates, 4));
  KERF_TRY(const Tensor in, run("aten.sigmoid.default"_op, {part[0]}));
  KERF_TRY(const Tensor forget, run("aten.sigmoid.default"_op, {part[1]}));
  KERF_TRY(const Tensor candidate, run("aten.tanh.default"_op, {part[2]}));
  KERF_TRY(const Tensor out, run("aten.sigmoid.default"_op, {part[3]}));
  KERF_TRY(const Tensor kept, run("aten.mul.Tensor"_op, {forget, state.cell}));
  KERF_TRY(const Tensor added, run("aten.mul.Tensor"_op, {in, candidate}));
  State next;
  KERF_TRY(next.cell, run("aten.add.Tensor"_op, {kept, added}));
  KERF_TRY(const Tensor squashed, run("aten.tanh.default"_op, {next.cell}));
  KERF_TRY(next.hidden, run("aten.mul.Tensor"_op, {out, squashed}));
  return next;
}

/// r, z, n: n' = tanh(i_n + r h_n); h' = n' + z (h - n')
Result<State> gruStep(const OpRunner& run, const Tensor& input, const Tensor& hidden, const State& state) {
  KERF_TRY(const std::vector<Tensor> a, chunks(run, input, 3));
  KERF_TRY(const std::vector<Tensor> b, chunks(run, hidden, 3));
  KERF_TRY(const Tensor resetSum, run("aten.add.Tensor"_op, {b[0], a[0]}));
  KERF_TRY(const Tensor reset, run("aten.sigmoid.default"_op, {resetSum}));
  KERF_TRY(const Tensor updateSum, run("aten.add.Tensor"_op, {b[1], a[1]}));
  KERF_TRY(const Tensor update, run("aten.sigmoid.default"_op, {updateSum}));
  KERF_TRY(const Tensor gated, run("aten.mul.Tensor"_op, {b[2], reset}));
  KERF_TRY(const Tensor newSum, run("aten.add.Tensor"_op, {a[2], gated}));
  KERF_TRY(const Tensor fresh, run("aten.tanh.default"_op, {newSum}));
  KERF_TRY(const Tensor difference, run("aten.sub.Tensor"_op, {state.hidden, fresh}));
  KERF_TRY(const Tensor moved, run("aten.mul.Tensor"_op, {difference, update}));
  State next;
  KERF_TRY(next.hidden, run("aten.add.Tensor"_op, {moved, fresh}));
  return next;
}

Result<State> step(const OpRunner& run, Cell cell, const Tensor& x, const State& state, const Weights& w) {
  KERF_TRY(const Tensor input, linearLayer(run, x, w.input, w.inputBias));
  KERF_TRY(const Tensor hidden, linearLayer(run, state.hidden, w.hidden, w.hiddenBias));
  if (cell == Cell::Gru) return gruStep(run, input, hidden, state);
  KERF_TRY(const Tensor gates, run("aten.add.Tensor"_op, {input, hidden}));
  State next;
  if (cell == Cell::Lstm) {
    KERF_TRY(next, lstmStep(run, gates, state));
    if (w.projection.isTensor()) {
      KERF_TRY(next.hidden, linearLayer(run, next.hidden, w.projection.tensor(), {}));
    }
    return next;
  }
  KERF_TRY(next.hidden, run(cell == Cell::Tanh ? "aten.tanh.default"_op : "aten.relu.default"_op, {gates}));
  return next;
}

// Single cells: lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh) and the like

template <Cell cell>
Result<Value> cellProgram(const BoundArguments& args, const OpRunner& run) {
  State state;
  if (cell == Cell::Lstm) {
    const std::vector<Tensor> given = args.tensors(1);
    if (given.size() != 2) return mismatch(args, "lstm_cell expects two hidden states");
    state = {given[0], given[1]};
  } else {
    state.hidden = args.tensor(1);
  }
  KERF_TRY(const State next,
           step(run, cell, args.tensor(0), state, {args.tensor(2), args.tensor(3), args.values[4], args.values[5]}));
  return cell == Cell::Lstm ? Value(ValueList{next.hidden, next.cell}) : Value(next.hidden);
}

// Whole sequences

struct Layout {
  bool biases = false, train = false, bidirectional = false, batchFirst = false;
  std::int64_t layers = 0;
  double dropout = 0;
  bool projected = false;
};

std::size_t weightsPerDirection(const Layout& layout) { return (layout.biases ? 4 : 2) + (layout.projected ? 1 : 0); }

Weights weightsAt(const std::vector<Tensor>& params, const Layout& layout, std::size_t direction) {
  const std::size_t at = direction * weightsPerDirection(layout);
  Weights weights{params[at], params[at + 1], {}, {}};
  if (layout.biases) weights.inputBias = params[at + 2], weights.hiddenBias = params[at + 3];
  if (layout.projected) weights.projection = params[at + weightsPerDirection(layout) - 1];
  return weights;
}

struct Direction {
  Tensor outputs;  ///< [time, batch, hidden]
  State last;
};

Result<Direction> runDirection(const OpRunner& run, Cell cell, const Tensor& x, State state, const Weights& weights,
                               bool reverse) {
  const std::int64_t steps = x.size(0);  // the program writes out every step: their number is fixed by that
  std::vector<Tensor> outputs(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t t = reverse ? steps - 1 - i : i;
    KERF_TRY(const Tensor now, run("aten.select.int"_op, {x, std::int64_t{0}, t}));
    KERF_TRY(state, step(run, cell, now, state, weights));
    outputs[std::size_t(t)] = state.hidden;
  }
  KERF_TRY(Tensor stacked, run("aten.stack.default"_op, {tensorList(outputs)}));
  return Direction{std::move(stacked), std::move(state)};
}

Result<Value> stackStates(const OpRunner& run, std::vector<Tensor> states) {
  return run.value("aten.stack.default"_op, {tensorList(std::move(states))});
}

struct Sequence {
  Tensor input;
  std::vector<Tensor> hidden, cells;  ///< one per layer and direction
  std::vector<Tensor> params;
  Layout layout;
};

Result<Value> runLayers(const BoundArguments& args, const OpRunner& run, Cell cell, const Sequence& s) {
  const std::size_t directions = s.layout.bidirectional ? 2 : 1;
  Tensor x = s.input;
  if (s.layout.batchFirst) {
    KERF_TRY(x, run("aten.transpose.int"_op, {x, std::int64_t{0}, std::int64_t{1}}));
  }
  if (const std::int64_t steps = x.size(0); steps < 1 || steps > (1 << 20))
    return mismatch(args, "expected a sequence of at least one step");
  std::vector<Tensor> hidden, cells;
  for (std::size_t layer = 0; layer < std::size_t(s.layout.layers); ++layer) {
    std::vector<Tensor> outputs;
    for (std::size_t d = 0; d < directions; ++d) {
      const std::size_t k = layer * directions + d;
      const State start{s.hidden[k], cell == Cell::Lstm ? s.cells[k] : Tensor()};
      KERF_TRY(const Direction direction, runDirection(run, cell, x, start, weightsAt(s.params, s.layout, k), d == 1));
      outputs.push_back(direction.outputs);
      hidden.push_back(direction.last.hidden);
      if (cell == Cell::Lstm) cells.push_back(direction.last.cell);
    }
    x = outputs[0];
    if (directions == 2) {
      KERF_TRY(x, run("aten.cat.default"_op, {tensorList(outputs), std::int64_t{2}}));
    }
    if (s.layout.dropout > 0 && s.layout.train && layer + 1 < std::size_t(s.layout.layers)) {
      KERF_TRY(const Value dropped, run.value("aten.native_dropout.default"_op, {x, s.layout.dropout, true}));
      x = dropped.list()[0].tensor();
    }
  }
  if (s.layout.batchFirst) {
    KERF_TRY(x, run("aten.transpose.int"_op, {x, std::int64_t{0}, std::int64_t{1}}));
  }
  KERF_TRY(const Value lastHidden, stackStates(run, hidden));
  if (cell != Cell::Lstm) return Value(ValueList{x, lastHidden});
  KERF_TRY(const Value lastCells, stackStates(run, cells));
  return Value(ValueList{x, lastHidden, lastCells});
}

Result<std::vector<Tensor>> statesOf(const BoundArguments& args, const OpRunner& run, const Tensor& all,
                                     std::int64_t wanted) {
  if (all.dim() != 3 || !guardOrTrue(all.symSize(0) == wanted))
    return mismatch(args, "the hidden state must be [{}, batch, hidden], is [{}]", wanted,
                    fmt::join(all.symSizes(), ", "));
  std::vector<Tensor> result;
  for (std::int64_t i = 0; i < wanted; ++i) {
    KERF_TRY(Tensor one, run("aten.select.int"_op, {all, std::int64_t{0}, i}));
    result.push_back(std::move(one));
  }
  return result;
}

/// (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
template <Cell cell>
Result<Value> sequenceProgram(const BoundArguments& args, const OpRunner& run) {
  Sequence s{args.tensor(0), {}, {}, args.tensors(2), {}};
  s.layout = {args.boolean(3), args.boolean(6), args.boolean(7), args.boolean(8), args.integer(4), args.number(5)};
  if (s.input.dim() != 3) return mismatch(args, "expected an input of 3 dimensions, got {}", s.input.dim());
  const std::int64_t directions = s.layout.bidirectional ? 2 : 1;
  if (s.layout.layers < 1 || s.layout.layers > 1000) return mismatch(args, "num_layers must be positive");
  const std::int64_t states = s.layout.layers * directions;
  s.layout.projected =
      cell == Cell::Lstm && s.params.size() == std::size_t(states) * (weightsPerDirection(s.layout) + 1);
  if (s.params.size() != std::size_t(states) * weightsPerDirection(s.layout))
    return mismatch(args, "expected {} weights, got {}", std::size_t(states) * weightsPerDirection(s.layout),
                    s.params.size());
  if (cell == Cell::Lstm) {
    const std::vector<Tensor> given = args.tensors(1);
    if (given.size() != 2) return mismatch(args, "lstm expects two hidden states");
    KERF_TRY(s.hidden, statesOf(args, run, given[0], states));
    KERF_TRY(s.cells, statesOf(args, run, given[1], states));
  } else {
    KERF_TRY(s.hidden, statesOf(args, run, args.tensor(1), states));
  }
  return runLayers(args, run, cell, s);
}

/// _thnn_fused_lstm_cell(input_gates, hidden_gates, cx, input_bias, hidden_bias): the step after both products
Result<Value> fusedLstm(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(Tensor gates, run("aten.add.Tensor"_op, {args.values[0], args.values[1]}));
  for (std::size_t i : {3, 4})
    if (!args.none(i)) {
      KERF_TRY(gates, run("aten.add.Tensor"_op, {gates, args.values[i]}));
    }
  KERF_TRY(const std::vector<Tensor> part, chunks(run, gates, 4));
  KERF_TRY(const State next, lstmStep(run, gates, {Tensor(), args.tensor(2)}));
  ValueList activated;
  const OpId functions[] = {"aten.sigmoid.default"_op, "aten.sigmoid.default"_op, "aten.tanh.default"_op,
                            "aten.sigmoid.default"_op};
  for (std::size_t i = 0; i < 4; ++i) {
    KERF_TRY(Value gate, run.value(functions[i], {part[i]}));
    activated.push_back(std::move(gate));
  }
  KERF_TRY(const Tensor workspace, run("aten.cat.default"_op, {activated, std::int64_t{1}}));
  return Value(ValueList{next.hidden, next.cell, workspace});
}

#define KERF_SEQUENCE                                                                                      \
  "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool " \
  "batch_first) -> "
#define KERF_CELL "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
constexpr OpTrait heavy = OpTrait::Matmul | OpTrait::Random;
constexpr OpRow recurrentRows[] = {
    compositeRow(sequenceProgram<Cell::Lstm>,
                 "aten::lstm.input(Tensor input, Tensor[] hx, " KERF_SEQUENCE "(Tensor, Tensor, Tensor)", heavy),
    compositeRow(sequenceProgram<Cell::Gru>,
                 "aten::gru.input(Tensor input, Tensor hx, " KERF_SEQUENCE "(Tensor, Tensor)", heavy),
    compositeRow(sequenceProgram<Cell::Tanh>,
                 "aten::rnn_tanh.input(Tensor input, Tensor hx, " KERF_SEQUENCE "(Tensor, Tensor)", heavy),
    compositeRow(sequenceProgram<Cell::Relu>,
                 "aten::rnn_relu.input(Tensor input, Tensor hx, " KERF_SEQUENCE "(Tensor, Tensor)", heavy),
    compositeRow(cellProgram<Cell::Lstm>, "aten::lstm_cell(Tensor input, Tensor[] hx, " KERF_CELL "(Tensor, Tensor)",
                 OpTrait::Matmul),
    compositeRow(cellProgram<Cell::Gru>, "aten::gru_cell(Tensor input, Tensor hx, " KERF_CELL "Tensor",
                 OpTrait::Matmul),
    compositeRow(cellProgram<Cell::Tanh>, "aten::rnn_tanh_cell(Tensor input, Tensor hx, " KERF_CELL "Tensor",
                 OpTrait::Matmul),
    compositeRow(cellProgram<Cell::Relu>, "aten::rnn_relu_cell(Tensor input, Tensor hx, " KERF_CELL "Tensor",
                 OpTrait::Matmul),
    compositeRow(fusedLstm,
                 "aten::_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? "
                 "input_bias=None, Tensor? hidden_bias=None) -> (Tensor, Tensor, Tensor)"),
};

const OpRegistration recurrentOps({.rows = recurrentRows});

}  // namespace

}  // namespace kerf::inline ops
