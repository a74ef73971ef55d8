#include <iostream>
#include <memory>
#include <optional>

#include "commands.h"

namespace layard::cli {
namespace {

int print(const Result<std::string>& json) {
  if (!json.ok()) return report(json.error());
  std::cout << *json << "\n";
  return kExitOk;
}

void add_list(CLI::App& cache, const Globals& globals, Run& run) {
  CLI::App* command =
      cache.add_subcommand("list", "Packed weights that are kept, longest unused first");
  command->callback([&globals, &run] {
    run = [&globals] {
      const auto resolved = environment(globals);
      if (!resolved.ok()) return report(resolved.error());
      return print(cache_list_json(*resolved));
    };
  });
}

void add_prune(CLI::App& cache, const Globals& globals, Run& run) {
  CLI::App* command = cache.add_subcommand(
      "prune", "Remove packed weights, longest unused first, until they are under the limit");
  auto bytes_max = std::make_shared<std::optional<std::uint64_t>>();
  command
      ->add_option_function<std::string>(
          "--max-bytes",
          [bytes_max](const std::string& text) {
            const auto bytes = parse_byte_count(text);
            if (!bytes.ok()) throw CLI::ValidationError("--max-bytes", bytes.error().message);
            *bytes_max = *bytes;
          },
          "What may remain, such as 500MB; 0 removes all (default: LAYARD_CACHE_MAX, else 20G)")
      ->type_name("SIZE");
  command->callback([&globals, &run, bytes_max] {
    run = [&globals, bytes_max] {
      const auto resolved = environment(globals);
      if (!resolved.ok()) return report(resolved.error());
      return print(cache_prune_json(*resolved, bytes_max->value_or(resolved->cache_bytes_max)));
    };
  });
}

}  // namespace

void add_cache(CLI::App& app, const Globals& globals, Run& run) {
  CLI::App* command = app.add_subcommand(
      "cache", "Packed weights kept between starts (LAYARD_CACHE, LAYARD_CACHE_MAX)");
  command->require_subcommand(1);
  add_list(*command, globals, run);
  add_prune(*command, globals, run);
}

}  // namespace layard::cli
