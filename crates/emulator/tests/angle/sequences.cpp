// Runs sequences of OpenGL ES commands on ANGLE in three ways and compares the pictures: on an ordinary device, on the emulator, and in
// ANGLE's own simulation of tile memory, which clears what would be lost. A sequence that differs, or is reported, is reduced to a shortest one.
//
// scripts/test-angle.sh fetches ANGLE's release libraries and runs it:
//
//     sequences FOLDER LAYER_FOLDER [--seconds N] [--seeds FIRST LAST] [--run "SEQUENCE"] [--expect "SEQUENCE"]...
//
// FOLDER has libEGL.so and libGLESv2.so, LAYER_FOLDER the emulator and its manifest. --run prints what one sequence gives. It
// ends with 1 if a sequence of --expect is neither among the reduced ones nor one of them when it is tried, or if a directed one goes wrong that every version draws right.
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#define EGL_EGLEXT_PROTOTYPES 1
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>

// Of ANGLE's extensions, which other headers lack.
enum : EGLint {
    EGL_PLATFORM_ANGLE = 0x3202,
    EGL_PLATFORM_TYPE = 0x3203,
    EGL_PLATFORM_TYPE_VULKAN = 0x3450,
    EGL_NATIVE_PLATFORM_TYPE = 0x348F,
    EGL_SURFACELESS = 0x31DD,
    EGL_FEATURES_ENABLED = 0x3466,
    EGL_FEATURES_DISABLED = 0x3467,
};

[[noreturn]] static void stop(const std::string &why) {
    std::fprintf(stderr, "error: %s\n", why.c_str());
    std::exit(2);
}

// The functions that are used, of the libraries in FOLDER.
#define GL_FUNCTIONS(X)                                                                                                          \
    X(ActiveTexture) X(AttachShader) X(BindFramebuffer) X(BindRenderbuffer) X(BindTexture) X(BlitFramebuffer) X(Clear)              \
    X(ClearColor) X(ClearDepthf) X(ClearStencil) X(ColorMask) X(CompileShader) X(CopyTexSubImage2D) X(CreateProgram)                \
    X(CreateShader) X(DepthFunc) X(DepthMask) X(Disable) X(DrawArrays) X(Enable) X(Finish) X(Flush) X(FramebufferRenderbuffer)      \
    X(FramebufferTexture2D) X(GenFramebuffers) X(GenRenderbuffers) X(GenTextures) X(GetError) X(GetProgramiv) X(GetString)          \
    X(GetUniformLocation) X(InvalidateFramebuffer) X(LinkProgram) X(ReadPixels) X(RenderbufferStorage) X(Scissor)                   \
    X(ShaderSource) X(StencilFunc) X(StencilOp) X(TexImage2D) X(TexParameteri) X(Uniform1i) X(Uniform4f) X(UseProgram) X(Viewport)  \
    X(CheckFramebufferStatus)
#define EGL_FUNCTIONS(X)                                                                                                         \
    X(GetPlatformDisplay) X(Initialize) X(ChooseConfig) X(CreateContext) X(DestroyContext)                  \
    X(MakeCurrent) X(BindAPI) X(GetError)
#define DECLARE(name) static decltype(&::gl##name) name;
namespace gl {
GL_FUNCTIONS(DECLARE)
}
#undef DECLARE
#define DECLARE(name) static decltype(&::egl##name) name;
namespace egl {
EGL_FUNCTIONS(DECLARE)
}
#undef DECLARE

static void load(const std::string &folder) {
    void *library = dlopen((folder + "/libEGL.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) stop(dlerror());
    using Find = void *(*)(const char *);
    const auto find = reinterpret_cast<Find>(dlsym(library, "eglGetProcAddress"));
    if (!find) stop("libEGL.so has no eglGetProcAddress");
    const auto get = [&](const char *name) {
        void *function = find(name);
        if (!function) function = dlsym(library, name);
        if (!function) stop(std::string("no function ") + name);
        return function;
    };
#define LOAD(name) gl::name = reinterpret_cast<decltype(gl::name)>(get("gl" #name));
    GL_FUNCTIONS(LOAD)
#undef LOAD
#define LOAD(name) egl::name = reinterpret_cast<decltype(egl::name)>(get("egl" #name));
    EGL_FUNCTIONS(LOAD)
#undef LOAD
}

// ---- Sequences ------------------------------------------------------------------------------------------------------------------

constexpr int side = 32, targets = 5;
// The depth buffer of each target; two share one.
constexpr int depth_of[targets] = {0, 1, 0, 2, 3};
constexpr GLenum formats[] = {GL_DEPTH24_STENCIL8, GL_DEPTH24_STENCIL8, GL_STENCIL_INDEX8, GL_DEPTH_COMPONENT16};
constexpr bool has_depth[] = {true, true, false, true}, has_stencil[] = {true, true, true, false};

// A command: its name, the target it is for, and what varies it.
struct Command {
    std::string name;
    int target = 0, variant = 0;
    bool operator==(const Command &other) const {
        return name == other.name && target == other.target && variant == other.variant;
    }
};
using Sequence = std::vector<Command>;

// A kind of command, and its number of variants; the first variant is the simplest.
struct Kind {
    const char *name;
    int variants, weight;
};
constexpr Kind kinds[] = {
    {"clear", 6, 8},       // depth and stencil, depth, stencil, all with color; 4, 5: the same as 0 and 3, of the left half
    {"draw", 8, 10},       // writes depth everywhere, whatever was there: a plane, of eight slopes
    {"test", 8, 12},       // draws where the plane is nearer than what is there, and writes depth
    {"mark", 4, 4},        // writes 1 to the stencil: everywhere, left, top, middle
    {"match", 2, 6},       // draws where the stencil is 1, or 0
    {"invalidate", 3, 5},  // depth and stencil, depth, stencil
    {"flush", 1, 8},       {"finish", 1, 2},
    {"read", 1, 4},        // glReadPixels of the color
    {"copy", 1, 2},        // glCopyTexSubImage2D of the color
    {"blit", 3, 3},        // depth and stencil, depth, stencil, to a texture
    {"onto", 1, 1},        // depth and stencil to the next target's, where it has the same format
};

static const Kind &kind_of(const std::string &name) {
    for (const Kind &kind : kinds)
        if (name == kind.name) return kind;
    stop("no command " + name);
}

static std::string text(const Sequence &sequence) {
    std::ostringstream out;
    for (const Command &command : sequence) {
        out << (out.tellp() > 0 ? "; " : "") << command.name;
        if (command.name != "flush" && command.name != "finish") {
            out << ' ' << command.target;
            if (command.variant) out << '.' << command.variant;
        }
    }
    return out.str();
}

static Sequence parsed(const std::string &text) {
    Sequence sequence;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ';');) {
        Command command;
        char name[16] = "";
        if (std::sscanf(part.c_str(), " %15s %d.%d", name, &command.target, &command.variant) < 1) continue;
        command.name = name;
        if (command.target < 0 || command.target >= targets || command.variant < 0 || command.variant >= kind_of(name).variants)
            stop("out of range: " + part);
        sequence.push_back(command);
    }
    return sequence;
}

// True if no command reads contents that OpenGL ES leaves undefined: those of depth buffers that were never written, or were invalidated.
static bool is_defined(const Sequence &sequence) {
    bool depth[4] = {}, stencil[4] = {};
    for (const Command &command : sequence) {
        const int buffer = depth_of[command.target], variant = command.variant;
        const bool ok_depth = depth[buffer] || !has_depth[buffer], ok_stencil = stencil[buffer] || !has_stencil[buffer];
        if (command.name == "clear") {
            if (variant <= 3 && variant != 2) depth[buffer] = true;
            if (variant <= 3 && variant != 1) stencil[buffer] = true;
        } else if (command.name == "draw") {
            if (!has_depth[buffer]) return false;
            depth[buffer] = true;
        } else if (command.name == "test") {
            if (!depth[buffer] || !has_depth[buffer]) return false;
        } else if (command.name == "mark") {
            if (!has_stencil[buffer]) return false;
            if (variant == 0) stencil[buffer] = true;
        } else if (command.name == "match") {
            if (!stencil[buffer] || !has_stencil[buffer]) return false;
        } else if (command.name == "invalidate") {
            if (variant != 2) depth[buffer] = false;
            if (variant != 1) stencil[buffer] = false;
        } else if (command.name == "blit") {
            if ((variant != 2 && (!ok_depth || !has_depth[buffer])) || (variant != 1 && (!ok_stencil || !has_stencil[buffer])))
                return false;
        } else if (command.name == "onto") {
            if (command.target > 1 || !depth[buffer] || !stencil[buffer]) return false;
            depth[1 - buffer] = stencil[1 - buffer] = true;
        }
    }
    return true;
}

static Sequence random_sequence(uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); };
    int total = 0;
    for (const Kind &kind : kinds) total += kind.weight;
    Sequence sequence;
    const int length = 4 + below(20), used = 1 + below(targets);
    for (int tries = 0; static_cast<int>(sequence.size()) < length && tries < 1000; ++tries) {
        int pick = below(total);
        const Kind *kind = kinds;
        for (; pick >= kind->weight; ++kind) pick -= kind->weight;
        const bool one = !std::strcmp(kind->name, "flush") || !std::strcmp(kind->name, "finish");
        sequence.push_back({kind->name, one ? 0 : below(used), below(kind->variants)});
        if (!is_defined(sequence)) sequence.pop_back();
    }
    return sequence;
}

// Sequences written for what a client can get wrong: what each is about, and whether every version of ANGLE gets it right.
struct Directed {
    const char *about, *sequence;
    bool is_sound;
};
constexpr Directed directed[] = {
    {"one image, one pass", "clear 0.3; draw 0; test 0.1; read 0", true},
    {"several images in turn", "clear 0.3; draw 0; clear 1.3; draw 1.2; test 0.3; test 1.4; test 0.5; read 0; read 1", false},
    {"several, flushes between", "clear 0.3; draw 0; flush; clear 1.3; draw 1.2; flush; test 0.3; flush; test 1.4; read 0", false},
    {"invalidated after each pass", "clear 0.3; draw 0; test 0.1; invalidate 0; flush; clear 0.3; draw 0.2; test 0.3; invalidate 0", true},
    {"invalidated between images", "clear 0.3; draw 0; test 0.1; invalidate 0; clear 1.3; draw 1.2; test 1.3; invalidate 1", false},
    {"fallback in mid-frame", "clear 0.3; draw 0; blit 0; test 0.1; test 0.2; read 0", true},
    {"fallback in mid-frame, flushed", "clear 0.3; draw 0; flush; test 0.1; blit 0; test 0.2; flush; test 0.3; read 0", false},
    {"stencil alone", "clear 3.3; mark 3.1; match 3; read 3; match 3.1; read 3", true},
    {"stencil alone, flushed", "clear 3.2; mark 3.2; flush; match 3; flush; match 3.1; read 3", true},
    {"stencil blitted", "clear 3.2; mark 3.1; blit 3.2; match 3; read 3", true},
    {"depth blitted and read", "clear 0.3; draw 0.2; blit 0; read 0", true},
    {"depth blitted after a flush", "clear 0.3; draw 0; test 0.1; flush; blit 0; read 0", false},
    {"depth blitted between buffers", "clear 0; clear 1; draw 0.1; onto 0; test 1.2; test 0.3; read 0; read 1", true},
    {"depth alone", "clear 4.3; draw 4; test 4.1; flush; test 4.2; read 4; blit 4.1", false},
    {"a shared depth buffer", "clear 0.3; draw 0; clear 2.1; test 2.1; test 0.2; read 0; read 2", true},
    {"a shared depth buffer, flushed", "clear 0.3; draw 0; test 0.1; flush; clear 2.3; read 2; draw 0.2; read 0", false},
    {"kept over a submission", "clear 0.3; draw 0; finish; test 0.1; read 0; test 0.2; read 0", true},
    {"half cleared", "clear 0.3; draw 0; clear 0.4; test 0.1; flush; clear 0.5; test 0.2; read 0", false},
};

// ---- A way to run them ----------------------------------------------------------------------------------------------------------

using Picture = std::vector<uint8_t>;

// A GL context on a display, with the objects that a sequence uses.
class Run {
public:
    Run(EGLDisplay display, EGLConfig config) : display(display) {
        const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE};
        context = egl::CreateContext(display, config, EGL_NO_CONTEXT, attributes);
        if (!context || !egl::MakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) stop("no context of OpenGL ES 3");
        gl::Viewport(0, 0, side, side);
        plane = program("#version 300 es\nuniform vec4 plane;\nvoid main() {\n"
                        "vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;\n"
                        "gl_Position = vec4(p, dot(vec3(p, 1), plane.xyz), 1);\n}",
                        "#version 300 es\nprecision highp float;\nuniform vec4 color;\nout vec4 result;\nvoid main() { result = color; }");
    }
    ~Run() {
        egl::MakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        egl::DestroyContext(display, context);
    }
    Run(const Run &) = delete;

    Picture run(const Sequence &sequence) {
        for (const Command &command : sequence) {
            carry_out(command);
            ++count;
        }
        for (int target = 0; target < targets; ++target)
            if (framebuffers[target]) read(target);
        show();
        gl::Finish();
        if (const GLenum error = gl::GetError()) stop("GL error " + std::to_string(error) + " in: " + text(sequence));
        return picture;
    }

    static Picture device() {
        std::string name = reinterpret_cast<const char *>(gl::GetString(GL_RENDERER));
        name += "; ";
        name += reinterpret_cast<const char *>(gl::GetString(GL_VERSION));
        return {name.begin(), name.end()};
    }

private:
    EGLDisplay display;
    EGLContext context;
    GLuint plane = 0, framebuffers[targets] = {}, buffers[4] = {}, copies = 0, blitted = 0, blitted_texture = 0;
    bool shows_depth = false, shows_stencil = false;
    int count = 0;
    Picture picture;

    static GLuint program(const char *vertex, const char *fragment) {
        const GLuint made = gl::CreateProgram();
        for (const auto &[stage, source] : {std::pair{GL_VERTEX_SHADER, vertex}, {GL_FRAGMENT_SHADER, fragment}}) {
            const GLuint shader = gl::CreateShader(static_cast<GLenum>(stage));
            gl::ShaderSource(shader, 1, &source, nullptr);
            gl::CompileShader(shader);
            gl::AttachShader(made, shader);
        }
        gl::LinkProgram(made);
        GLint linked = 0;
        gl::GetProgramiv(made, GL_LINK_STATUS, &linked);
        if (!linked) stop("a program does not link");
        return made;
    }

    GLuint texture(GLenum internal, GLenum format, GLenum type, const void *data) {
        GLuint made = 0;
        gl::GenTextures(1, &made);
        gl::BindTexture(GL_TEXTURE_2D, made);
        gl::TexImage2D(GL_TEXTURE_2D, 0, static_cast<GLint>(internal), side, side, 0, format, type, data);
        gl::TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        gl::TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        return made;
    }

    // A framebuffer with a color of its own, which needs no clear.
    GLuint framebuffer(GLenum attachment, GLuint renderbuffer) {
        const std::vector<uint8_t> grey(side * side * 4, 64);
        const GLuint color = texture(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, grey.data());
        GLuint made = 0;
        gl::GenFramebuffers(1, &made);
        gl::BindFramebuffer(GL_FRAMEBUFFER, made);
        gl::FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color, 0);
        if (renderbuffer) gl::FramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, renderbuffer);
        if (gl::CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) stop("an incomplete framebuffer");
        return made;
    }

    static GLenum attachment(int buffer) {
        if (!has_stencil[buffer]) return GL_DEPTH_ATTACHMENT;
        return has_depth[buffer] ? GL_DEPTH_STENCIL_ATTACHMENT : GL_STENCIL_ATTACHMENT;
    }

    void bind(int target) {
        const int buffer = depth_of[target];
        if (!buffers[buffer]) {
            gl::GenRenderbuffers(1, &buffers[buffer]);
            gl::BindRenderbuffer(GL_RENDERBUFFER, buffers[buffer]);
            gl::RenderbufferStorage(GL_RENDERBUFFER, formats[buffer], side, side);
        }
        if (!framebuffers[target]) framebuffers[target] = framebuffer(attachment(buffer), buffers[buffer]);
        gl::BindFramebuffer(GL_FRAMEBUFFER, framebuffers[target]);
    }

    // The texture that depth is blitted to, of the format of the source.
    void blit(int target, int variant) {
        bind(target);
        const int buffer = depth_of[target];
        // Of each format its own, for a blit needs equal formats; the last one is shown.
        GLuint to = 0;
        gl::GenFramebuffers(1, &to);
        if (has_depth[buffer]) {
            blitted_texture = buffer == 3 ? texture(GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, nullptr)
                                          : texture(GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, nullptr);
            gl::BindFramebuffer(GL_FRAMEBUFFER, to);
            gl::FramebufferTexture2D(GL_FRAMEBUFFER, attachment(buffer), GL_TEXTURE_2D, blitted_texture, 0);
        } else {
            GLuint made = 0;
            gl::GenRenderbuffers(1, &made);
            gl::BindRenderbuffer(GL_RENDERBUFFER, made);
            gl::RenderbufferStorage(GL_RENDERBUFFER, formats[buffer], side, side);
            gl::BindFramebuffer(GL_FRAMEBUFFER, to);
            gl::FramebufferRenderbuffer(GL_FRAMEBUFFER, attachment(buffer), GL_RENDERBUFFER, made);
            blitted_texture = 0;
        }
        const std::vector<uint8_t> black(side * side * 4, 0);
        const GLuint color = texture(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, black.data());
        gl::FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color, 0);
        gl::BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[target]);
        gl::BindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
        const GLbitfield mask = (variant != 2 && has_depth[buffer] ? GL_DEPTH_BUFFER_BIT : 0u) |
                                (variant != 1 && has_stencil[buffer] ? GL_STENCIL_BUFFER_BIT : 0u);
        gl::BlitFramebuffer(0, 0, side, side, 0, 0, side, side, mask, GL_NEAREST);
        blitted = to;
        shows_depth = mask & GL_DEPTH_BUFFER_BIT;
        shows_stencil = mask & GL_STENCIL_BUFFER_BIT;
    }

    // A full quad at a depth, in a color that no other command has.
    void quad(int variant) {
        static const float planes[8][3] = {{0, 0, 0},       {0.5f, 0, 0.1f},  {-0.5f, 0, 0},    {0, 0.5f, -0.1f},
                                           {0, -0.5f, 0.2f}, {0.3f, 0.3f, 0}, {0.3f, -0.3f, 0}, {0, 0, -0.4f}};
        gl::UseProgram(plane);
        const float *at = planes[variant];
        gl::Uniform4f(gl::GetUniformLocation(plane, "plane"), at[0], at[1], at[2], 0);
        const int number = count + 1;
        gl::Uniform4f(gl::GetUniformLocation(plane, "color"), static_cast<float>(number % 4) / 4 + 0.1f,
                      static_cast<float>(number / 4 % 4) / 4 + 0.1f, static_cast<float>(number / 16 % 4) / 4 + 0.1f, 1);
        gl::DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }

    void read(int target) {
        bind(target);
        const size_t before = picture.size();
        picture.resize(before + side * side * 4);
        gl::ReadPixels(0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE, picture.data() + before);
    }

    // Draws what was blitted last: its depth in 16 steps, its stencil in one.
    void show() {
        if (!blitted) return;
        gl::BindFramebuffer(GL_FRAMEBUFFER, blitted);
        gl::DepthMask(GL_FALSE);
        for (int step = 0; shows_depth && step < 16; ++step) {
            gl::Enable(GL_DEPTH_TEST);
            gl::DepthFunc(GL_LESS);
            gl::UseProgram(plane);
            const float shade = static_cast<float>(16 - step) / 16;
            gl::Uniform4f(gl::GetUniformLocation(plane, "plane"), 0, 0, 1 - static_cast<float>(step) / 8 - 0.03f, 0);
            gl::Uniform4f(gl::GetUniformLocation(plane, "color"), shade, shade, 0, 1);
            gl::DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        }
        gl::Disable(GL_DEPTH_TEST);
        if (shows_stencil) {
            gl::ColorMask(GL_FALSE, GL_FALSE, GL_TRUE, GL_FALSE);
            gl::Enable(GL_STENCIL_TEST);
            gl::StencilFunc(GL_EQUAL, 1, 0xff);
            quad(0);
            gl::ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
            gl::Disable(GL_STENCIL_TEST);
        }
        gl::DepthMask(GL_TRUE);
        const size_t before = picture.size();
        picture.resize(before + side * side * 4);
        gl::ReadPixels(0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE, picture.data() + before);
    }

    void carry_out(const Command &command) {
        const std::string &name = command.name;
        const int target = command.target, variant = command.variant;
        if (name == "flush") return gl::Flush();
        if (name == "finish") return gl::Finish();
        if (name == "read") return read(target);
        if (name == "blit") return blit(target, variant);
        bind(target);
        if (name == "clear") {
            gl::ClearColor(0.2f, static_cast<float>(count % 8) / 8, 0.4f, 1);
            gl::ClearDepthf(1);
            gl::ClearStencil(0);
            if (variant > 3) {
                gl::Enable(GL_SCISSOR_TEST);
                gl::Scissor(0, 0, side / 2, side);
            }
            gl::Clear((variant == 3 || variant == 5 ? GL_COLOR_BUFFER_BIT : 0u) | (variant != 2 ? GL_DEPTH_BUFFER_BIT : 0u) |
                      (variant != 1 ? GL_STENCIL_BUFFER_BIT : 0u));
            gl::Disable(GL_SCISSOR_TEST);
        } else if (name == "draw" || name == "test") {
            gl::Enable(GL_DEPTH_TEST);
            gl::DepthFunc(name == "draw" ? GL_ALWAYS : GL_LESS);
            quad(variant);
            gl::Disable(GL_DEPTH_TEST);
        } else if (name == "mark") {
            static const int boxes[4][4] = {{0, 0, 4, 4}, {0, 0, 2, 4}, {0, 2, 4, 2}, {1, 1, 2, 2}};
            gl::Enable(GL_STENCIL_TEST);
            gl::StencilFunc(GL_ALWAYS, 1, 0xff);
            gl::StencilOp(GL_REPLACE, GL_REPLACE, GL_REPLACE);
            gl::ColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
            gl::Enable(GL_SCISSOR_TEST);
            const int *box = boxes[variant], unit = side / 4;
            gl::Scissor(box[0] * unit, box[1] * unit, box[2] * unit, box[3] * unit);
            quad(0);
            gl::Disable(GL_SCISSOR_TEST);
            gl::ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
            gl::StencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
            gl::Disable(GL_STENCIL_TEST);
        } else if (name == "match") {
            gl::Enable(GL_STENCIL_TEST);
            gl::StencilFunc(GL_EQUAL, 1 - variant, 0xff);
            quad(0);
            gl::Disable(GL_STENCIL_TEST);
        } else if (name == "invalidate") {
            const int buffer = depth_of[target];
            std::vector<GLenum> lost;
            if (variant != 2 && has_depth[buffer]) lost.push_back(GL_DEPTH_ATTACHMENT);
            if (variant != 1 && has_stencil[buffer]) lost.push_back(GL_STENCIL_ATTACHMENT);
            if (!lost.empty()) gl::InvalidateFramebuffer(GL_FRAMEBUFFER, static_cast<GLsizei>(lost.size()), lost.data());
        } else if (name == "copy") {
            if (!copies) copies = texture(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
            gl::BindTexture(GL_TEXTURE_2D, copies);
            gl::CopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, side, side);
        } else if (name == "onto") {
            bind(1 - target);
            gl::BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[target]);
            gl::BindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[1 - target]);
            gl::BlitFramebuffer(0, 0, side, side, 0, 0, side, side, GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT, GL_NEAREST);
        }
    }
};

// An EGL display, and with it a Vulkan device, on the layer or not: in a process of its own, for ANGLE has the functions of one device.
class Way {
public:
    double seconds = 0;

    int ended = 0;

    Way(std::string folder, const char *enabled, const char *disabled, bool layer)
        : folder(std::move(folder)), enabled(enabled), disabled(disabled), layer(layer) {
        begin();
    }
    ~Way() { close(to), close(from); }
    Way(const Way &) = delete;

    // Picture of a sequence; empty if ANGLE or the driver ended in it twice.
    Picture run(const Sequence &sequence) {
        const std::string line = text(sequence);
        const auto start = std::chrono::steady_clock::now();
        Picture picture;
        for (int tries = 0; tries < 2; ++tries) {
            send(to, line.data(), line.size());
            if (receive(from, picture)) break;
            // lavapipe 22.3.6 ends now and then in threads of its own, with or without the layer.
            picture.clear();
            ++ended;
            close(to), close(from);
            rusage usage{};
            wait4(process, nullptr, 0, &usage);
            for (const timeval &time : {usage.ru_utime, usage.ru_stime})
                spent += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
            begin();
        }
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return picture;
    }

    // Processor time of the processes so far, user and system, in seconds.
    double processor() const {
        std::ifstream file("/proc/" + std::to_string(process) + "/stat");
        std::string line;
        std::getline(file, line);
        const size_t name = line.rfind(')');
        if (name == std::string::npos) return spent;
        std::istringstream fields(line.substr(name + 2));
        std::vector<std::string> all;
        for (std::string field; fields >> field;) all.push_back(field);
        constexpr size_t user = 11, system = 12; // Fields 14 and 15 of proc(5).
        if (all.size() <= system) return spent;
        return spent + (std::stod(all[user]) + std::stod(all[system])) / static_cast<double>(sysconf(_SC_CLK_TCK));
    }

    // ANGLE's name for the device.
    std::string device() {
        const Picture name = run({});
        if (name.empty()) stop("ANGLE does not begin");
        return {name.begin(), name.end()};
    }

private:
    std::string folder;
    const char *enabled, *disabled;
    bool layer;
    int to = -1, from = -1;
    pid_t process = -1;
    double spent = 0; // By processes that ended.

    void begin() {
        int down[2], up[2];
        if (pipe(down) || pipe(up)) stop("no pipe");
        const pid_t child = fork();
        if (child < 0) stop("no process");
        process = child;
        if (child == 0) {
            close(down[1]), close(up[0]);
            serve(down[0], up[1]); // Until the other end is closed.
        }
        close(down[0]), close(up[1]);
        to = down[1], from = up[0];
    }
    static void send(int file, const void *bytes, size_t size) {
        std::string message(sizeof size, 0);
        std::memcpy(message.data(), &size, sizeof size);
        message.append(static_cast<const char *>(bytes), size);
        for (size_t at = 0; at < message.size();) {
            const ssize_t wrote = write(file, message.data() + at, message.size() - at);
            if (wrote <= 0) return;
            at += static_cast<size_t>(wrote);
        }
    }

    static bool take(int file, void *bytes, size_t size) {
        for (size_t at = 0; at < size;) {
            const ssize_t got = ::read(file, static_cast<char *>(bytes) + at, size - at);
            if (got <= 0) return false;
            at += static_cast<size_t>(got);
        }
        return true;
    }

    static bool receive(int file, Picture &message) {
        size_t size = 0;
        if (!take(file, &size, sizeof size)) return false;
        message.resize(size);
        return take(file, message.data(), size);
    }

    [[noreturn]] void serve(int from, int to) const {
        if (layer) setenv("VK_INSTANCE_LAYERS", "VK_LAYER_TILEHEAP_emulator", 1);
        load(folder);
        const char *on[] = {enabled, nullptr}, *off[] = {disabled, nullptr};
        std::vector<EGLAttrib> attributes = {EGL_PLATFORM_TYPE, EGL_PLATFORM_TYPE_VULKAN, EGL_NATIVE_PLATFORM_TYPE, EGL_SURFACELESS};
        if (enabled) attributes.insert(attributes.end(), {EGL_FEATURES_ENABLED, reinterpret_cast<EGLAttrib>(on)});
        if (disabled) attributes.insert(attributes.end(), {EGL_FEATURES_DISABLED, reinterpret_cast<EGLAttrib>(off)});
        attributes.push_back(EGL_NONE);
        const EGLDisplay display = egl::GetPlatformDisplay(EGL_PLATFORM_ANGLE, EGL_DEFAULT_DISPLAY, attributes.data());
        if (!display || !egl::Initialize(display, nullptr, nullptr))
            stop("ANGLE finds no Vulkan device: EGL error " + std::to_string(egl::GetError()));
        egl::BindAPI(EGL_OPENGL_ES_API);
        const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_NONE};
        EGLConfig config = nullptr;
        EGLint count = 0;
        if (!egl::ChooseConfig(display, wanted, &config, 1, &count) || count == 0) stop("no EGL configuration");
        for (Picture line; receive(from, line);) {
            Run run(display, config);
            const Picture answer = line.empty() ? Run::device() : run.run(parsed({line.begin(), line.end()}));
            send(to, answer.data(), answer.size());
        }
        std::_Exit(0);
    }
};

// The kinds of the messages that the layer has written since the last call.
class Messages {
public:
    explicit Messages(const std::string &path) : file(path) {}
    std::map<std::string, int> fresh() {
        std::map<std::string, int> found;
        file.clear();
        for (std::string line; std::getline(file, line);) {
            const size_t id = line.find("\"id\":\"TILEHEAP-");
            if (line.find("\"event\":\"message\"") == std::string::npos || id == std::string::npos) continue;
            const size_t first = id + 6;
            ++found[line.substr(first, line.find('"', first) - first)];
        }
        return found;
    }

private:
    std::ifstream file;
};

struct Outcome {
    bool wrong = false, simulation_wrong = false;
    std::map<std::string, int> messages;
    bool is_faulty() const { return wrong || !messages.empty(); }
    // Findings; empty if none.
    std::string fault() const {
        std::string found = wrong ? "wrong picture" : "";
        for (const auto &[id, count] : messages) found += (found.empty() ? "" : ", ") + id;
        return found;
    }
};

struct Bench {
    Way plain, emulated, simulated;
    Messages messages;

    Bench(const std::string &folder, const std::string &log)
        : plain(folder, nullptr, "supportsTileMemoryHeap", false), emulated(folder, "supportsTileMemoryHeap", nullptr, true),
          simulated(folder, "simulateTileMemoryForTesting", "supportsTileMemoryHeap", false), messages(log) {}

    Outcome run(const Sequence &sequence, bool simulate = true) {
        Outcome outcome;
        const Picture right = plain.run(sequence);
        messages.fresh();
        outcome.wrong = emulated.run(sequence) != right;
        outcome.messages = messages.fresh();
        if (simulate) outcome.simulation_wrong = simulated.run(sequence) != right;
        return outcome;
    }

    // True if it still has the message or, without a message, a wrong picture.
    bool is_same(const Sequence &sequence, const std::string &message) {
        if (!is_defined(sequence)) return false;
        const Outcome outcome = run(sequence, false);
        return message.empty() ? outcome.wrong : outcome.messages.count(message) != 0;
    }

    // No command can be left out, and none made simpler.
    Sequence reduced(Sequence sequence, const std::string &message) {
        bool changed = true;
        const auto take = [&](const Sequence &other) {
            if (other == sequence || !is_same(other, message)) return false;
            sequence = other;
            return changed = true;
        };
        while (changed) {
            changed = false;
            for (size_t width = std::max<size_t>(sequence.size() / 2, 1); width >= 1; width /= 2) {
                for (size_t at = 0; at + width <= sequence.size();) {
                    Sequence shorter = sequence;
                    shorter.erase(shorter.begin() + static_cast<long>(at), shorter.begin() + static_cast<long>(at + width));
                    if (!take(shorter)) ++at;
                }
            }
            // The first targets.
            for (int from = targets - 1; from > 0; --from)
                for (int to = 0; to < from; ++to) {
                    Sequence renamed = sequence, swapped = sequence;
                    for (Command &command : renamed)
                        if (command.target == from) command.target = to;
                    for (Command &command : swapped)
                        if (command.target == from || command.target == to) command.target = from + to - command.target;
                    if (!take(renamed) && text(swapped) < text(sequence)) take(swapped);
                }
            for (size_t at = 0; at < sequence.size(); ++at) {
                std::vector<Command> simpler;
                if (sequence[at].name != "flush") {
                    simpler.push_back({"flush"});
                    for (const char *name : {"draw", "clear"})
                        if (sequence[at].name == name) break;
                        else simpler.push_back({name, sequence[at].target});
                }
                for (int variant = 0; variant < sequence[at].variant; ++variant)
                    simpler.push_back({sequence[at].name, sequence[at].target, variant});
                for (const Command &command : simpler) {
                    Sequence other = sequence;
                    other[at] = command;
                    if (take(other)) break;
                }
            }
        }
        return sequence;
    }
};

int main(int count, char **arguments) {
    if (count < 3) stop("FOLDER and LAYER_FOLDER are missing: see the head of the source");
    double seconds = 60;
    uint32_t first = 0, last = UINT32_MAX;
    std::optional<std::string> single;
    std::vector<std::string> expected;
    for (int at = 3; at < count; ++at) {
        const std::string name = arguments[at];
        const auto value = [&] {
            if (++at >= count) stop(name + " needs a value");
            return std::string(arguments[at]);
        };
        if (name == "--seconds") seconds = std::stod(value());
        else if (name == "--seeds") first = static_cast<uint32_t>(std::stoul(value())), last = static_cast<uint32_t>(std::stoul(value()));
        else if (name == "--run") single = value();
        else if (name == "--expect") expected.push_back(value());
        else stop("no option " + name);
    }
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    const std::string log = "/tmp/tileheap-angle-" + std::to_string(getpid()) + ".jsonl";
    std::ofstream(log).close();
    setenv("VK_ADD_LAYER_PATH", arguments[2], 1);
    setenv("VK_LAYER_PATH", arguments[2], 1);
    setenv("VK_TILEHEAP_EMULATOR_MESSAGE_LOG", log.c_str(), 1);
    setenv("VK_TILEHEAP_EMULATOR_REPORT", "all", 1);
    setenv("VK_TILEHEAP_EMULATOR_REPEATS", "true", 1); // Each sequence is a program of its own.
    Bench bench(arguments[1], log);
    std::printf("%s\n", bench.emulated.device().c_str());
    if (single) {
        const Outcome outcome = bench.run(parsed(*single));
        std::printf("%s: %s; simulation: %s\n", single->c_str(), outcome.fault().empty() ? "right" : outcome.fault().c_str(),
                    outcome.simulation_wrong ? "wrong picture" : "right");
        std::ifstream file(log);
        std::printf("%s", (std::stringstream() << file.rdbuf()).str().c_str());
    }
    if (single) return std::remove(log.c_str());

    std::printf("\nDirected sequences%40s%s\n", "", "simulation");
    std::map<std::string, int> shortest;
    const auto reduce = [&](const Sequence &sequence, const Outcome &outcome) {
        const Sequence reduced = bench.reduced(sequence, outcome.messages.empty() ? "" : outcome.messages.begin()->first);
        const Outcome again = bench.run(reduced);
        ++shortest[text(reduced) + "\t" + (again.is_faulty() ? again.fault() : "not a second time")];
    };
    int failed = 0;
    for (const Directed &one : directed) {
        const Sequence sequence = parsed(one.sequence);
        if (!is_defined(sequence)) stop(std::string("undefined by itself: ") + one.sequence);
        const Outcome outcome = bench.run(sequence);
        const bool unexpected = one.is_sound && outcome.is_faulty();
        std::printf("  %-32s %-30s %s%s\n", one.about, outcome.is_faulty() ? outcome.fault().c_str() : "right",
                    outcome.simulation_wrong ? "wrong picture" : "right", unexpected ? ": FAILED, every version is right here" : "");
        failed += unexpected;
        if (outcome.is_faulty()) reduce(sequence, outcome);
    }

    // A third of the time is left for reducing.
    bench.plain.seconds = bench.emulated.seconds = bench.simulated.seconds = 0;
    const double before[] = {bench.plain.processor(), bench.emulated.processor(), bench.simulated.processor()};
    std::vector<std::pair<Sequence, Outcome>> faulty;
    std::map<std::string, std::pair<int, int>> kinds_of_messages;
    int ran = 0, wrong = 0, simulation = 0, both = 0, silent = 0, messages = 0, alone = 0;
    for (uint32_t seed = first; seed <= last && (last != UINT32_MAX || elapsed() < seconds * 2 / 3); ++seed) {
        const Sequence sequence = random_sequence(seed);
        const Outcome outcome = bench.run(sequence);
        ++ran;
        wrong += outcome.wrong;
        simulation += outcome.simulation_wrong;
        both += outcome.wrong && outcome.simulation_wrong;
        silent += outcome.wrong && outcome.messages.empty() && !outcome.simulation_wrong;
        messages += !outcome.messages.empty();
        alone += !outcome.messages.empty() && !outcome.simulation_wrong;
        for (const auto &[id, count] : outcome.messages) {
            ++kinds_of_messages[id].first;
            kinds_of_messages[id].second += !outcome.simulation_wrong;
        }
        if (outcome.is_faulty()) faulty.emplace_back(sequence, outcome);
    }
    std::printf("\n%d random sequences\n", ran);
    std::printf("  wrong pictures: emulator %d, simulation %d, both %d\n", wrong, simulation, both);
    std::printf("  with messages of the emulator: %d, of which the simulation draws %d right\n", messages, alone);
    for (const auto &[id, of] : kinds_of_messages) std::printf("    %s: %d, %d\n", id.c_str(), of.first, of.second);
    std::printf("  wrong on the emulator alone, and without a message: %d\n", silent);
    std::printf("  seconds: plain %.2f, emulator %.2f, simulation %.2f\n", bench.plain.seconds, bench.emulated.seconds,
                bench.simulated.seconds);
    std::printf("  processor seconds: plain %.2f, emulator %.2f, simulation %.2f\n", bench.plain.processor() - before[0],
                bench.emulated.processor() - before[1], bench.simulated.processor() - before[2]);
    std::printf("  the driver ended and was restarted: plain %d, emulator %d, simulation %d\n", bench.plain.ended, bench.emulated.ended,
                bench.simulated.ended);
    size_t done = 0;
    for (; done < faulty.size() && (last != UINT32_MAX || elapsed() < seconds); ++done) reduce(faulty[done].first, faulty[done].second);
    std::printf("\nShortest sequences of %zu of them\n", done);
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto &[sequence, times] : shortest) sorted.emplace_back(-times, sequence);
    std::sort(sorted.begin(), sorted.end());
    for (const auto &[times, sequence] : sorted) {
        const size_t tab = sequence.find('\t');
        std::printf("  %4d  %-40s %s\n", -times, sequence.substr(0, tab).c_str(), sequence.substr(tab + 1).c_str());
    }
    for (const std::string &one : expected) {
        const std::string wanted = text(parsed(one)) + "\t";
        const auto at = shortest.lower_bound(wanted);
        if (at != shortest.end() && at->first.compare(0, wanted.size(), wanted) == 0) continue;
        // In a short time others with its fault may have been reduced instead: then it is tried, and must be as short as it can be.
        const Outcome outcome = bench.run(parsed(one));
        const std::string message = outcome.messages.empty() ? "" : outcome.messages.begin()->first;
        if (outcome.is_faulty() && text(bench.reduced(parsed(one), message)) == text(parsed(one))) {
            std::printf("  tried  %-38s %s\n", one.c_str(), outcome.fault().c_str());
            continue;
        }
        std::printf("FAILED: not found: %s\n", one.c_str());
        ++failed;
    }
    std::remove(log.c_str());
    return failed ? 1 : 0;
}
