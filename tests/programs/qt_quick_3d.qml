// Renders a lit box over a plane with Qt Quick 3D, and saves the picture as the file that the last argument names.
import QtQuick
import QtQuick3D
Window {
    id: window
    width: 1920; height: 1080; visible: true
    property int frames: 0
    View3D {
        id: view
        anchors.fill: parent
        environment: SceneEnvironment { clearColor: "#224"; backgroundMode: SceneEnvironment.Color; antialiasingMode: SceneEnvironment.MSAA; aoEnabled: true }
        PerspectiveCamera { position: Qt.vector3d(0, 80, 300); eulerRotation.x: -15 }
        DirectionalLight { eulerRotation: Qt.vector3d(-50, 30, 0); castsShadow: true }
        Model { source: "#Cube"; materials: PrincipledMaterial { baseColor: "#e85" } }
        Model { source: "#Rectangle"; y: -60; scale: Qt.vector3d(4, 4, 1); eulerRotation.x: -90; materials: PrincipledMaterial { baseColor: "#8a8" } }
    }
    onFrameSwapped: {
        if (++frames < 5) view.update()
        if (frames == 5) view.grabToImage(function (result) { result.saveToFile(Qt.application.arguments[Qt.application.arguments.length - 1]); Qt.quit() })
    }
}
