// Feeds a target the files of its corpus, and each of them cut short: as ctest fuzz_<target>, in
// every build. The last name that it prints is that of the file that a claim failed on.
//
//   fuzz_<target>_test FOLDER-OR-FILE...
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <vector>

namespace trueup::fuzz {
namespace {

constexpr std::size_t kCuts = 64;

std::vector<std::filesystem::path> files_of(const std::filesystem::path& place) {
    if (!std::filesystem::is_directory(place)) return {place};
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

void feed(const std::vector<std::uint8_t>& bytes, std::size_t size) {
    // As libFuzzer does it: never a null pointer, and not a byte more than there are.
    const std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[size]);
    std::copy_n(bytes.begin(), size, copy.get());
    TRUEUP_CHECK(LLVMFuzzerTestOneInput(copy.get(), size) == 0);
}

bool replay(const std::filesystem::path& path) {
    std::cout << path.string() << std::endl;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::cout << "cannot be read\n";
        return false;
    }
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    feed(bytes, bytes.size());
    const std::size_t step = bytes.size() / kCuts + 1;
    for (std::size_t size = 0; size < bytes.size(); size += step) feed(bytes, size);
    return true;
}

}  // namespace
}  // namespace trueup::fuzz

int main(int count, char** arguments) {
    using namespace trueup::fuzz;
    std::size_t files = 0;
    for (int i = 1; i < count; ++i) {
        for (const std::filesystem::path& path : files_of(arguments[i])) {
            if (!replay(path)) return 1;
            ++files;
        }
    }
    std::cout << files << " files\n";
    return files > 0 ? 0 : 1;
}
