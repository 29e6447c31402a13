// kerf doctor: what of the environment works, and how to get the rest.
#include "app/cli/doctor.h"
#include "app/cli/commands.h"
#include "app/cli/text_table.h"
#include "app/cli/version.h"

namespace kerf::cli {

namespace {

constexpr std::string_view stateWords[] = {"works", "limited", "missing"};

std::string_view wordOf(const DoctorRow& row) { return stateWords[std::size_t(row.state)]; }

bool isGood(const std::vector<DoctorRow>& rows) {
  return std::ranges::none_of(rows, [](const auto& row) { return row.needed && row.state != DoctorRow::State::Works; });
}

Json doctorJson(const std::vector<DoctorRow>& rows) {
  Json list = Json::array();
  for (const auto& row : rows)
    list.push_back({{"part", row.part},
                    {"state", wordOf(row)},
                    {"needed", row.needed},
                    {"found", row.found},
                    {"gives", row.gives},
                    {"get", orNull(row.get)}});
  return {{"kerf", versionNumber()}, {"good", isGood(rows)}, {"parts", std::move(list)}};
}

void printRows(const std::vector<DoctorRow>& rows) {
  TextTable table({"part", "state", "what was found"});
  for (const auto& row : rows) table.add({row.part, std::string(wordOf(row)), row.found});
  fmt::print("kerf {}\n\n{}", versionNumber(), table.text());
  bool first = true;
  for (const auto& row : rows) {
    if (row.get.empty()) continue;
    fmt::print("{}  {}: {}. {}\n", first ? "\nto get the rest:\n" : "", row.part, row.gives, row.get);
    first = false;
  }
}

Result<int> runDoctor(const Context& context, const std::string& python) {
  auto rows = ownParts(context.storePath);
  for (auto& row : surroundings(python)) rows.push_back(std::move(row));
  if (context.json)
    printJson(doctorJson(rows));
  else
    printRows(rows);
  return isGood(rows) ? 0 : 3;
}

}  // namespace

void addDoctor(CommandLine& line) {
  auto& command = line.add("doctor", "Say what of the environment works, and how to get the rest",
                           "  kerf doctor\n"
                           "  kerf doctor --python venv/bin/python --json");
  command.footer(command.get_footer() +
                 "\n\nA graph is compiled and run, a program captured, and PyTorch imported by its own Python."
                 "\nExit code: 0 Kerf itself works, 3 it does not.");
  auto python = std::make_shared<std::string>("python3");
  command.add_option("--python", *python, "The Python that should have PyTorch")
      ->type_name("EXE")
      ->capture_default_str();
  line.onRun(command, [python](Context& context) { return runDoctor(context, *python); });
}

}  // namespace kerf::cli
