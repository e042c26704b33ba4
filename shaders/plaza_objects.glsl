// Objects of the plaza as triangles without vertex buffers: boxes of 36 vertices, then balls of 2,304.
#ifndef PLAZA_OBJECTS_GLSL
#define PLAZA_OBJECTS_GLSL

#include "plaza.glsl"

const uint BOXES = 36u;  // the number of instances; balls follow
const uint RINGS = 16u;
const uint SECTORS = 24u;

struct Object {
    vec3 middle;
    vec3 half_size;
    float yaw;
    vec4 color;  // alpha 1: it glows
};

struct Point {
    vec3 position;
    vec3 normal;
};

Object object(uint index, uint number) {
    if (index == 0u) {
        return Object(vec3(0.0, -0.5, 0.0), vec3(60.0, 0.5, 60.0), 0.0, vec4(0.26, 0.25, 0.27, 0.0));
    }
    if (index < 4u) {
        float step = float(index);
        return Object(vec3(0.0, 0.3 * step - 0.15, 0.0), vec3(3.7 - 0.7 * step, 0.15, 3.7 - 0.7 * step), 0.2 * step, vec4(0.5, 0.46, 0.42, 0.0));
    }
    if (index < BOXES) {
        uint place = (index - 4u) / 2u;
        bool foot = (index & 1u) == 0u;
        vec3 size = foot ? vec3(0.62, 0.16, 0.62) : vec3(0.34, 2.0, 0.34);
        float yaw = TURN * (float(place) + 0.5) / float(COLUMNS);
        return Object(column(place) + vec3(0.0, foot ? 0.16 : 2.0, 0.0), size, yaw, vec4(0.58, 0.54, 0.48, 0.0));
    }
    uint ball = index - BOXES;
    if (ball == 0u) {
        return Object(vec3(0.0, 2.25, 0.0), vec3(1.35), 0.0, vec4(0.75, 0.7, 0.62, 0.0));
    }
    if (ball <= LIGHTS) {
        Light lamp = light(ball - 1u, number);
        return Object(lamp.position, vec3(0.16), 0.0, vec4(lamp.color / max(lamp.color.r, max(lamp.color.g, lamp.color.b)), 1.0));
    }
    float angle = TURN * random(ball, 2u) + 0.01 * float(number);
    float far = 2.4 + 4.0 * random(ball, 3u);
    float height = 2.4 + 2.6 * random(ball, 4u) + 0.15 * sin(0.1 * float(number) + float(ball));
    return Object(vec3(far * sin(angle), height, far * cos(angle)), vec3(0.22 + 0.25 * random(ball, 5u)), 0.0, vec4(hue(random(ball, 6u)), 0.0));
}

// A corner of a triangle on the unit box or ball.
Point corner(uint vertex, bool ball) {
    const uvec2 CORNERS[6] = uvec2[](uvec2(0, 0), uvec2(1, 0), uvec2(1, 1), uvec2(0, 0), uvec2(1, 1), uvec2(0, 1));
    uvec2 at = CORNERS[vertex % 6u];
    uint face = vertex / 6u;
    if (ball) {
        float around = TURN * float(face % SECTORS + at.x) / float(SECTORS);
        float up = TURN * (0.5 * float(face / SECTORS + at.y) / float(RINGS) - 0.25);
        vec3 point = vec3(cos(up) * sin(around), sin(up), cos(up) * cos(around));
        return Point(point, point);
    }
    vec2 across = vec2(at) * 2.0 - 1.0;
    float side = face % 2u == 0u ? 1.0 : -1.0;
    across.x *= side;  // so that both faces are counter-clockwise
    vec3 point = vec3(across, side);
    uint axis = face / 2u;
    vec3 normal = vec3(0.0, 0.0, side);
    return Point(axis == 0u ? point : axis == 1u ? point.zxy : point.yzx, axis == 0u ? normal : axis == 1u ? normal.zxy : normal.yzx);
}

// A corner of an object in the world.
Point place(Object of, Point at) {
    vec3 size = of.half_size;
    mat3 yaw = mat3(cos(of.yaw), 0.0, -sin(of.yaw), 0.0, 1.0, 0.0, sin(of.yaw), 0.0, cos(of.yaw));
    return Point(of.middle + yaw * (at.position * size), yaw * normalize(at.normal / size));
}

#endif
