/*
 * The programs of the guide's chapter "Into a C++ engine": `guide_N` is this file with renderer.hpp of step N. A step's folder has the files that
 * it changes; all other files are those of the steps before it.
 */
#include <renderer.hpp>

int main(int count, char **arguments) {
    return plaza::run(count, arguments, "Renders a plaza by night, as a step of the guide.", "guide.png", guide::render<Renderer>);
}
