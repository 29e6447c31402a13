#include "app/workbench/export/render.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "engine/backend/cuda/disassembly.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

constexpr std::string_view jsonSuffix = ".json";

struct Form {
  std::string_view name, backend, comment;
  std::string_view text;  ///< what the backend keeps of it
};
constexpr Form forms[] = {{"loop", "llvm", "#", "loop"}, {"llvm", "llvm", ";", "llvm"},
                          {"asm", "llvm", "#", "asm"},   {"cuda", "cuda", "//", "cuda"},
                          {"ptx", "cuda", "//", "ptx"},  {"sass", "cuda", "//", "cubin"}};

const Form* findForm(std::string_view format) {
  if (format.ends_with(jsonSuffix)) format.remove_suffix(jsonSuffix.size());
  const auto* form = std::ranges::find(forms, format, &Form::name);
  return form == std::end(forms) ? nullptr : form;
}

struct KernelCode {
  std::string name, kind, reason, text;
  std::vector<std::string> nodes, capturedNodes;

  KERF_FIELDS(name, kind, reason, text, nodes, capturedNodes)
};

std::string joinedText(const std::vector<KernelCode>& kernels, std::string_view comment) {
  std::string out;
  for (const KernelCode& kernel : kernels) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{} {} ({}{}{}): {}\n", comment, kernel.name, kernel.kind, kernel.reason.empty() ? "" : ", ",
                       kernel.reason, fmt::join(kernel.nodes, ", "));
    out += kernel.text;
    if (!out.ends_with('\n')) out += '\n';
  }
  return out;
}

std::string jsonText(const std::vector<KernelCode>& kernels, std::string_view format) {
  auto rows = nlohmann::ordered_json::array();
  for (const KernelCode& kernel : kernels)
    rows.push_back({{"name", kernel.name},
                    {"kind", kernel.kind},
                    {"reason", kernel.reason},
                    {"nodes", kernel.nodes},
                    {"captured_nodes", kernel.capturedNodes},
                    {"text", kernel.text}});
  const nlohmann::ordered_json document{{"format", format}, {"kernels", std::move(rows)}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// What the child compiled: it starts no program itself.
Result<void> disassemble(std::vector<KernelCode>& kernels) {
  for (KernelCode& kernel : kernels) {
    if (kernel.text.empty()) continue;
    auto text = disassembled(kernel.text);
    if (!text) return fail(std::move(text.error().advise(Advice::ChooseFormat, "ptx")));
    kernel.text = std::move(*text);
  }
  return {};
}

}  // namespace

bool isKernelFormat(std::string_view format) { return findForm(format) != nullptr; }

Result<std::string> kernelTexts(const GraphSource& source, std::string_view format, const std::filesystem::path& cache,
                                const Job& job) {
  const Form* const form = findForm(format);
  if (form == nullptr) return fail(ErrorCode::BadUsage, "kernels have no format \"{}\"", format);
  const GraphModule& module = source.graph().module;
  const CompileOptions options{.backend = std::string(form->backend), .cache = cache};
  const std::function body = [&]() -> Result<std::vector<KernelCode>> {
    KERF_TRY(const auto compiled, compileFx(module, options));
    std::vector<KernelCode> kernels;
    for (const KernelInfo& kernel : compiled->kernels())
      kernels.push_back({kernel.name, kernel.kind, kernel.reason, std::string(kernel.text(form->text)), kernel.nodes,
                         kernel.capturedNodes});
    return kernels;
  };
  KERF_TRY(auto kernels,
           inChild(body, patientLimits(std::chrono::minutes(5)), job.stop, "compiling", ErrorCode::CompileFailed));
  if (form->name == "sass") KERF_CHECK(disassemble(kernels));
  return format.ends_with(jsonSuffix) ? jsonText(kernels, form->name) : joinedText(kernels, form->comment);
}

}  // namespace kerf::workbench
