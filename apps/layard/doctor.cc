#include "layard/doctor.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "commands.h"
#include "table.h"

namespace layard::cli {
namespace {

// `ok       kernels      avx2: the best that is tested`, and what to do below it.
std::string findings_table(const std::vector<Finding>& findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.name.size());
  constexpr std::size_t kStateWidth = 9;
  const auto padded = [](std::string text, std::size_t columns) {
    text.resize(std::max(columns, text.size()), ' ');
    return text;
  };
  std::string out;
  for (const Finding& finding : findings) {
    out += padded(std::string(state_name(finding.state)), kStateWidth) +
           padded(finding.name, width + 2) + printable(finding.found) + "\n";
    if (finding.remedy.empty()) continue;
    out += padded("", kStateWidth + width + 2) + "-> " + printable(finding.remedy) + "\n";
  }
  return out;
}

int run_doctor(const Globals& globals, const std::string& format) {
  const auto resolved = environment(globals);
  if (!resolved.ok()) return report(resolved.error());
  const std::vector<Finding> findings = examine(*resolved, globals.offline);
  std::cout << (format == "json" ? print_findings(findings) + "\n" : findings_table(findings));
  const bool healthy = std::ranges::none_of(
      findings, [](const Finding& finding) { return finding.state == Finding::State::kFailed; });
  return healthy ? kExitOk : kExitCheckFailed;
}

}  // namespace

void add_doctor(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "doctor",
      "Is this machine ready? Kernels, threads, memory, cache, checkpoints, and what to "
      "do; exit 1 when something does not work");
  auto format = std::make_shared<std::string>("table");
  command->add_option("--format", *format, "A table for people, or JSON")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([&globals, &run, format] {
    run = [&globals, format] { return run_doctor(globals, *format); };
  });
}

}  // namespace layard::cli
