#include "args.hpp"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "picture.hpp"

namespace plaza {
namespace {

constexpr const char *OPTIONS =
    "Options:\n"
    "  --output FILE     the last frame as a PNG [%s]\n"
    "  --texels FILE     the texels of every frame, one after the other, four bytes each\n"
    "  --frames N        how many frames to render [8]\n"
    "  --size WxH        the size of the picture [960x540]\n"
    "  --resize WxH      renders the second half of the frames at this size\n"
    "  --toggle          leaves the halos out of every second pair of frames\n"
    "  --no-tile-memory  uses no tile memory\n"
    "  --help            prints this\n";

uint32_t parse_number(const std::string &option, const std::string &text, const char *first, const char *last) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(first, last, number);
    if (error != std::errc() || end != last || number == 0 || number > 16384)
        throw std::invalid_argument("invalid value '" + text + "' for " + option);
    return number;
}

VkExtent2D parse_size(const std::string &option, const std::string &text) {
    const size_t x = text.find('x');
    if (x == std::string::npos) throw std::invalid_argument("invalid value '" + text + "' for " + option + ": not WIDTHxHEIGHT");
    const char *first = text.data();
    return {parse_number(option, text, first, first + x), parse_number(option, text, first + x + 1, first + text.size())};
}

/** Parses the command line; throws std::invalid_argument. Returns nullopt after printing the help. */
std::optional<Args> parse_args(int count, char **arguments, const char *about, const char *output) {
    Args args;
    args.output = output;
    for (int index = 1; index < count; index++) {
        const std::string option = arguments[index];
        const auto value = [&]() -> std::string {
            if (index + 1 == count) throw std::invalid_argument(option + " needs a value");
            return arguments[++index];
        };
        if (option == "--help" || option == "-h") {
            std::printf("%s\n\n", about);
            std::printf(OPTIONS, output);
            return std::nullopt;
        }
        if (option == "--output")
            args.output = value();
        else if (option == "--texels")
            args.texels = value();
        else if (option == "--frames") {
            const std::string text = value();
            args.frames = parse_number(option, text, text.data(), text.data() + text.size());
        } else if (option == "--size")
            args.size = parse_size(option, value());
        else if (option == "--resize")
            args.resize = parse_size(option, value());
        else if (option == "--toggle")
            args.toggle = true;
        else if (option == "--no-tile-memory")
            args.tile_memory = false;
        else
            throw std::invalid_argument("unknown option '" + option + "'; see --help");
    }
    return args;
}

} // namespace

int run(int count, char **arguments, const char *about, const char *output, void (*render)(const Args &)) {
    try {
        const auto args = parse_args(count, arguments, about, output);
        if (args) render(*args);
        return 0;
    } catch (const std::invalid_argument &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
}

Pictures::Pictures(const Args &args) : args_(args) {
    if (args.texels.empty()) return;
    file_.open(args.texels, std::ios::binary);
    if (!file_) throw std::runtime_error("cannot write " + args.texels);
}

void Pictures::add(VkExtent2D extent, std::vector<uint8_t> texels) {
    extent_ = extent;
    last_ = std::move(texels);
    if (file_.is_open()) file_.write(reinterpret_cast<const char *>(last_.data()), std::streamsize(last_.size()));
}

void Pictures::finish() {
    if (file_.is_open() && !file_.flush()) throw std::runtime_error("cannot write " + args_.texels);
    write_png(args_.output, extent_, last_);
}

} // namespace plaza
