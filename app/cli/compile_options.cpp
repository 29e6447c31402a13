#include "app/cli/compile_options.h"

namespace kerf::cli {

void addPassOptions(CLI::App& command, PassArguments& arguments) {
  command
      .add_option("--passes", arguments.passes,
                  "Run exactly these passes, in this order; a name twice runs twice (`kerf passes` lists them)")
      ->type_name("A,B,…")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--disable-pass", arguments.disabled, "Leave this pass out")
      ->type_name("PASS")
      ->allow_extra_args(false);
  command.add_option("--config", arguments.settings, "Set an option of a pass, e.g. constant_folding.max_bytes=1024")
      ->type_name("PASS.OPTION=VALUE")
      ->allow_extra_args(false);
}

std::vector<std::string> passWords(const PassArguments& arguments) {
  std::vector<std::string> words;
  if (!arguments.passes.empty()) words = {"--passes", fmt::format("{}", fmt::join(arguments.passes, ","))};
  for (const std::string& name : arguments.disabled) words.insert(words.end(), {"--disable-pass", name});
  for (const std::string& text : arguments.settings) words.insert(words.end(), {"--config", text});
  return words;
}

}  // namespace kerf::cli
