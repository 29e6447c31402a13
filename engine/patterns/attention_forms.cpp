// The table of attention's forms and the two functions that are built after a row.
#include "engine/patterns/attention_forms.h"

#include <limits>

namespace kerf::inline patterns {

namespace {

using Form = AttentionForm;
using Layout = Form::Layout;
using Scale = Form::Scale;
using Mask = Form::Mask;
using Weights = Form::Weights;
using Check = Form::Check;

const Form forms[] = {
    {.number = 1, .scale = Scale::DivideScores, .contiguous = true, .check = Check::ScaleIsNumber},
    {.number = 2, .scale = Scale::MultiplyScores, .contiguous = true, .check = Check::ScaleIsNumber},
    {.number = 3, .scale = Scale::DivideScores, .dropout = true, .contiguous = true, .check = Check::ScaleIsNumber},
    {.number = 4, .scale = Scale::MultiplyScores, .dropout = true, .contiguous = true, .check = Check::ScaleIsNumber},
    {.number = 5, .scale = Scale::DivideScores, .mask = Mask::Added, .contiguous = true, .scaleIsNumber = true},
    {.number = 6,
     .scale = Scale::DivideScores,
     .mask = Mask::Added,
     .dropout = true,
     .contiguous = true,
     .scaleIsNumber = true},
    {.number = 7,
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideScores,
     .weights = Weights::Float32ThenHalf,
     .dropout = true,
     .scaleIsNumber = true},
    {.number = 8,
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideScores,
     .weights = Weights::Float32ThenHalf,
     .scaleIsNumber = true},
    {.number = 9,
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideQuery,
     .weights = Weights::Float32ThenHalf,
     .dropout = true,
     .scaleIsNumber = true},
    {.number = 10,
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideQuery,
     .weights = Weights::Float32ThenHalf,
     .scaleIsNumber = true},
    {.number = 11,
     .models = "Hugging Face",
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideScores,
     .check = Check::ScaleIsNumber},
    {.number = 12,
     .models = "Hugging Face",
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideScores,
     .dropout = true,
     .check = Check::ScaleIsNumber},
    {.number = 13, .layout = Layout::ThreeDims, .dropout = true},
    {.number = 14,
     .models = "BertLarge",
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideScores,
     .mask = Mask::Added,
     .check = Check::ScaleIsNumber},
    {.number = 15,
     .models = "DistilBert",
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideScores,
     .mask = Mask::Filled,
     .check = Check::ScaleIsNumber},
    {.number = 16,
     .models = "BertLarge",
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideScores,
     .mask = Mask::Added,
     .weights = Weights::OfQuery,
     .dropout = true,
     .check = Check::ScaleIsNumber,
     .notOnCuda = true},
    {.number = 17,
     .models = "DistilBert",
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideScores,
     .mask = Mask::Filled,
     .dropout = true,
     .check = Check::ScaleIsNumber},
    {.number = 18,
     .models = "GPT-2",
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideByTensor,
     .mask = Mask::Causal,
     .dropout = true,
     .keepsKeyValue = true,
     .scaleIsNumber = true},
    {.number = 19,
     .models = "GPT-2",
     .scale = Scale::DivideByTensor,
     .mask = Mask::CausalAndAdded,
     .weights = Weights::OfValue,
     .dropout = true,
     .scaleIsNumber = true},
    {.number = 20,
     .models = "DistilBert",
     .layout = Layout::HeadsSecond,
     .scale = Scale::DivideQuery,
     .mask = Mask::Filled,
     .dropout = true,
     .scaleIsNumber = true},
    {.number = 21,
     .models = "T5",
     .layout = Layout::HeadsSecond,
     .mask = Mask::Added,
     .weights = Weights::RoundedScores},
    {.number = 22,
     .models = "T5",
     .layout = Layout::HeadsSecond,
     .mask = Mask::Added,
     .weights = Weights::RoundedScores,
     .keepsKeyValue = true},
    {.number = 23,
     .models = "T5",
     .layout = Layout::HeadsSecond,
     .weights = Weights::RoundedScores,
     .keepsKeyValue = true},
    {.number = 24,
     .models = "MBart, PLBart",
     .layout = Layout::Flattened,
     .mask = Mask::Added,
     .weights = Weights::OfQuery,
     .check = Check::None},
    {.number = 25,
     .models = "T5",
     .layout = Layout::HeadsSecond,
     .mask = Mask::Added,
     .weights = Weights::Float32,
     .dropout = true,
     .notOnCuda = true},
    {.number = 26,
     .models = "T5",
     .layout = Layout::HeadsSecond,
     .mask = Mask::Added,
     .weights = Weights::Float32,
     .dropout = true,
     .keepsKeyValue = true,
     .notOnCuda = true},
    {.number = 27,
     .models = "T5",
     .layout = Layout::HeadsSecond,
     .weights = Weights::Float32,
     .dropout = true,
     .keepsKeyValue = true,
     .notOnCuda = true},
    {.number = 28,
     .models = "Visformer",
     .scale = Scale::MultiplyScores,
     .dropout = true,
     .contiguous = true,
     .check = Check::ScaleIsNumber},
};

Proxy permuted(const Proxy& x) { return x.method("permute", {0, 2, 1, 3}); }
Proxy to(const Proxy& x, DType dtype) { return x.method("to", {dtype}); }

double smallest(DType dtype) {
  if (dtype == DType::Float16) return -65504.0;
  if (dtype == DType::BFloat16) return -3.3895313892515355e+38;
  return dtype == DType::Float64 ? std::numeric_limits<double>::lowest() : double(std::numeric_limits<float>::lowest());
}

/// A tensor without dimensions like the query.
Proxy filled(const PatternArguments& a, Argument value) {
  const TensorMeta query = a.meta("query");
  return a.tracer().call("torch.ops.aten.full.default", {Argument::list({}), std::move(value)},
                         {{"dtype", query.dtype}, {"device", query.device}});
}

/// The search function of one call.
class Search {
 public:
  Search(const Form& form, const PatternArguments& a) : m_form(form), m_a(a), m_dtype(a.meta("query").dtype) {}

  std::vector<Proxy> run() {
    Proxy query = m_a.tensor("query"), key = m_a.tensor("key"), value = m_a.tensor("value");
    if (m_form.layout == Layout::HeadsSecond) query = permuted(query), key = permuted(key), value = permuted(value);
    const Proxy keptKey = key, keptValue = value;
    if (m_form.scale == Scale::DivideQuery) query = query.method("div", {m_a["inv_scale"]});
    if (m_form.layout == Layout::Flattened) query = flat(query), key = flat(key), value = flat(value);
    const bool three = m_form.layout == Layout::ThreeDims || m_form.layout == Layout::Flattened;
    const std::string_view product = three ? "bmm" : "matmul";
    const Proxy turned = three ? key.method("transpose", {1, 2}) : key.method("transpose", {-2, -1});
    const Proxy scores = masked(scaled(query.method(product, {turned})));
    if (m_form.weights == Weights::Float32ThenHalf) value = to(value, DType::Float16);
    Proxy out = weights(scores).method(product, {value});
    if (m_form.layout == Layout::Flattened) out = out.method("view", {size(0), size(1), size(2), size(3)});
    if (!m_form.keepsKeyValue) return {out};
    return {out, keptKey, keptValue};
  }

 private:
  std::int64_t size(int dim) const { return m_a.size("query", dim); }
  Proxy flat(const Proxy& x) const { return x.method("reshape", {size(0) * size(1), -1, size(3)}); }

  Proxy scaled(const Proxy& scores) const {
    switch (m_form.scale) {
      case Scale::DivideScores:
        return scores.method("div", {m_a["inv_scale"]});
      case Scale::MultiplyScores:
        return scores.method("mul", {m_a["scale_factor"]});
      case Scale::DivideByTensor:
        return scores.method("div", {filled(m_a, m_a["inv_scale"])});
      default:
        return scores;
    }
  }

  Proxy masked(const Proxy& scores) const {
    switch (m_form.mask) {
      case Mask::None:
        return scores;
      case Mask::Added:
        return m_form.layout == Layout::Flattened ? addedFlat(scores) : scores + m_a.tensor("attn_mask");
      case Mask::Filled: {
        const Proxy hidden =
            m_a.tensor("attn_mask").method("eq", {0}).method("view", {size(0), 1, 1, m_a.size("key", 1)});
        return scores.method("masked_fill", {hidden.method("expand_as", {scores}), filled(m_a, -HUGE_VAL)});
      }
      case Mask::Causal:
        return causal(scores);
      case Mask::CausalAndAdded:
        return causal(scores) + m_a.tensor("attn_mask");
    }
    return scores;
  }

  Proxy causal(const Proxy& scores) const {
    return m_a.tracer().call("torch.where", {m_a["causal_mask"], scores, filled(m_a, smallest(m_dtype))});
  }

  Proxy addedFlat(const Proxy& scores) const {
    const Proxy apart = scores.method("view", {size(0), size(1), size(2), -1}) + m_a.tensor("attn_mask");
    return apart.method("view", {size(0) * size(1), size(2), -1});
  }

  Proxy dropped(const Proxy& x) const {
    if (!m_form.dropout) return x;
    return m_a.tracer().call("torch.nn.functional.dropout", {x, m_a["dropout_p"], true});
  }

  Proxy weights(const Proxy& scores) const {
    const auto softmax = [](const Proxy& x) { return x.method("softmax", {-1}); };
    switch (m_form.weights) {
      case Weights::AsScores:
        return dropped(softmax(scores));
      case Weights::Float32ThenHalf:
        return to(dropped(softmax(to(scores, DType::Float32))), DType::Float16);
      case Weights::RoundedScores: {
        const Proxy rounded = to(m_form.mask == Mask::None ? to(scores, DType::Float32) : scores, m_dtype);
        return to(softmax(to(rounded, DType::Float32)), m_dtype);
      }
      case Weights::Float32:
        return dropped(to(softmax(to(scores, DType::Float32)), m_dtype));
      case Weights::OfQuery:
        return to(dropped(softmax(scores)), m_dtype);
      case Weights::OfValue:
        return dropped(to(softmax(scores), m_a.meta("value").dtype));
    }
    return scores;
  }

  const Form& m_form;
  const PatternArguments& m_a;
  DType m_dtype;
};

/// The replacement function of one call.
class Replacement {
 public:
  Replacement(const Form& form, const PatternArguments& a) : m_form(form), m_a(a) {}

  std::vector<Proxy> run() const {
    const Proxy query = input("query"), key = input("key"), value = input("value");
    const double dropout = m_form.dropout ? m_a.number("dropout_p") : 0.0;
    const Proxy fused = m_a.tracer().call("torch.nn.functional.scaled_dot_product_attention",
                                          {query, key, value, mask(), dropout, false}, {{"scale", scale()}});
    const Proxy out = m_form.layout == Layout::ThreeDims ? fused.method("squeeze", {0}) : fused;
    if (!m_form.keepsKeyValue) return {out};
    return {out, key, value};
  }

 private:
  Proxy input(std::string_view name) const {
    const Proxy given = m_a.tensor(name);
    if (m_form.contiguous) return given.method("contiguous");
    if (m_form.layout == Layout::ThreeDims) return given.method("unsqueeze", {0});
    return m_form.layout == Layout::HeadsSecond ? permuted(given) : given;
  }

  double scale() const {
    if (m_form.scale == Scale::None) return 1.0;
    const double number = m_a.number(scaleName(m_form));
    return m_form.scale == Scale::MultiplyScores ? number : 1.0 / number;
  }

  Argument mask() const {
    const TensorMeta query = m_a.meta("query");
    const bool asGiven = m_form.weights == Weights::Float32;
    switch (m_form.mask) {
      case Mask::None:
        return {};
      case Mask::Added:
        return asGiven ? m_a["attn_mask"] : Argument(to(m_a.tensor("attn_mask"), query.dtype));
      case Mask::Causal:
        return m_a["causal_mask"];
      case Mask::CausalAndAdded:
        return m_a.tracer().call(
            "torch.where", {m_a["causal_mask"], to(m_a.tensor("attn_mask"), query.dtype), filled(m_a, -HUGE_VAL)});
      case Mask::Filled: {
        const std::int64_t batch = m_a.size("query", 0), keys = m_a.size("key", 1);
        return m_a.tensor("attn_mask")
            .method("ne", {0})
            .method("view", {batch, 1, 1, keys})
            .method("expand", {batch, m_a.size("query", 2), m_a.size("query", 1), keys});
      }
    }
    return {};
  }

  const Form& m_form;
  const PatternArguments& m_a;
};

}  // namespace

std::span<const AttentionForm> attentionForms() { return forms; }

std::string_view scaleName(const AttentionForm& form) {
  if (form.scale == Scale::None) return {};
  return form.scale == Scale::MultiplyScores ? "scale_factor" : "inv_scale";
}

PatternFunction attentionSearch(const AttentionForm& form) {
  return [form](const PatternArguments& arguments) { return Search(form, arguments).run(); };
}

PatternFunction attentionReplacement(const AttentionForm& form) {
  return [form](const PatternArguments& arguments) { return Replacement(form, arguments).run(); };
}

}  // namespace kerf::inline patterns
